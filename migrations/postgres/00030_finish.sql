-- By when the jobs of ticks have to have succeeded: finish_by, and what became of that.

-- +goose Up
ALTER TABLE periodic_task
  ADD COLUMN finish_by varchar(32),
  ADD CONSTRAINT nextrun_finish_by CHECK (finish_by <> '');
COMMENT ON COLUMN periodic_task.finish_by IS 'by when the job of a tick has to have succeeded: a duration after due, such as 2h, or the next time of day after due, such as 06:30, in the zone of the timer; NULL: at any time';

ALTER TABLE periodic_tick
  ADD COLUMN finish_by    timestamp,
  ADD COLUMN finish       varchar(8),
  ADD COLUMN finish_why   varchar(500),
  ADD COLUMN finish_ended timestamp,
  ADD COLUMN finish_look  timestamp;
-- NOT VALID: no row of before has a value, so none needs to be read.
ALTER TABLE periodic_tick ADD CONSTRAINT nextrun_finish
  CHECK (finish IN ('at risk', 'kept', 'late', 'unknown')) NOT VALID;
COMMENT ON COLUMN periodic_tick.finish_by    IS 'when its job has to have succeeded, UTC; NULL: at any time';
COMMENT ON COLUMN periodic_tick.finish       IS 'what a scheduler has found: at risk, kept, late or unknown; NULL: nothing yet. The view periodic_finish is up to date';
COMMENT ON COLUMN periodic_tick.finish_why   IS 'why it is at risk, late or unknown, for people';
COMMENT ON COLUMN periodic_tick.finish_ended IS 'when its job ended, UTC, as far as a scheduler has seen it';
COMMENT ON COLUMN periodic_tick.finish_look  IS 'when a scheduler looks at it next, UTC; NULL: not any more';
CREATE INDEX nextrun_tick_finish ON periodic_tick (finish_look) WHERE finish_look IS NOT NULL;

-- A value that cannot be read becomes a problem of the row. Only a plan says so, and what is planned for later stays as it is.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_finish() RETURNS trigger LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  NEW.worker := NULL;
  NEW.marked := NULL;
  IF NEW.nextrun IS NOT DISTINCT FROM OLD.nextrun AND NEW.due > clock_timestamp() AT TIME ZONE 'UTC' THEN
    NEW.due := NULL;
    NEW.nextrun := '1970-01-01 00:00:00';
  END IF;
  PERFORM pg_notify('nextrun_task', '');
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_finish BEFORE UPDATE OF finish_by ON periodic_task
  FOR EACH ROW WHEN (NEW.finish_by IS DISTINCT FROM OLD.finish_by)
  EXECUTE FUNCTION nextrun_task_finish();

-- What schedulers have not recorded yet is judged by the job as it is now.
CREATE VIEW periodic_finish AS
SELECT k.task_id, k.due, k.finish_by, k.ended, k.judged AS finish, k.judged = 'open' AND k.finish IS NOT DISTINCT FROM 'at risk' AS at_risk,
       CASE WHEN k.judged = 'kept' THEN NULL
            WHEN k.finish IS NOT DISTINCT FROM k.judged OR k.judged = 'open' AND k.finish = 'at risk' THEN k.finish_why
            WHEN k.judged = 'unknown' THEN 'nobody knows how its job ended'
            WHEN k.decision = 'submitted' THEN 'its job ' || CASE k.state WHEN 'success' THEN 'ended too late' WHEN 'failed' THEN 'failed' || coalesce(': ' || left(k.said, 300), '')
              WHEN 'cancelled' THEN 'was cancelled' WHEN 'running' THEN 'is running' WHEN 'waiting' THEN 'waits in the queue' WHEN 'stuck' THEN 'waits for its next attempt'
              ELSE 'has not ended' END
            ELSE 'the tick was ' || k.decision || coalesce(': ' || left(k.reason, 300), '') END AS why
  FROM (SELECT last.task_id, last.due, last.finish_by, last.decision, last.reason, last.finish, last.finish_why, e.state, e.said, e.ended,
               CASE WHEN last.finish IN ('kept', 'late', 'unknown') THEN last.finish
                    WHEN e.state = 'success' AND (e.ended <= last.finish_by OR e.ended IS NULL) THEN 'kept'
                    WHEN e.state = 'unknown' OR last.decision = 'submitted' AND e.state IS NULL
                      AND NOT EXISTS (SELECT 1 FROM periodic_awaited AS a WHERE a.task_id = last.task_id AND a.due = last.due) THEN 'unknown'
                    WHEN last.finish_by <= statement_timestamp() AT TIME ZONE 'UTC' THEN 'late'
                    ELSE 'open' END AS judged
          FROM periodic_tick AS last
          LEFT JOIN job ON job.jid = last.jid
         CROSS JOIN LATERAL (SELECT coalesce(job.state, CASE last.outcome WHEN 'gone' THEN 'success' ELSE last.outcome END) AS state,
                                    coalesce(job.result, last.error) AS said,
                                    CASE WHEN job.jid IS NOT NULL THEN job.finished ELSE coalesce(last.finished, last.finish_ended) END AS ended) AS e
         WHERE last.finish_by IS NOT NULL) AS k;
COMMENT ON VIEW periodic_finish IS 'each tick that has to finish by a time: kept, late, open or unknown, and why';

-- +goose Down
DROP VIEW IF EXISTS periodic_finish;
DROP TRIGGER IF EXISTS nextrun_task_finish ON periodic_task;
DROP FUNCTION IF EXISTS nextrun_task_finish();
DROP INDEX IF EXISTS nextrun_tick_finish;
ALTER TABLE periodic_tick
  DROP COLUMN IF EXISTS finish_by,
  DROP COLUMN IF EXISTS finish,
  DROP COLUMN IF EXISTS finish_why,
  DROP COLUMN IF EXISTS finish_ended,
  DROP COLUMN IF EXISTS finish_look;
ALTER TABLE periodic_task DROP COLUMN IF EXISTS finish_by;
