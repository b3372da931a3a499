-- By when the jobs of ticks have to have succeeded. What the columns mean is said in the comments of
-- postgres/00030_finish.sql.

-- +goose Up
ALTER TABLE periodic_task ADD COLUMN finish_by varchar(32)
  CONSTRAINT nextrun_finish_by CHECK (finish_by IS NULL OR typeof(finish_by) = 'text' AND length(finish_by) BETWEEN 1 AND 32 AND NOT instr(CAST(finish_by AS BLOB), x'00'));
ALTER TABLE periodic_tick ADD COLUMN finish_by timestamp;
ALTER TABLE periodic_tick ADD COLUMN finish varchar(8)
  CONSTRAINT nextrun_finish CHECK (finish IN ('at risk', 'kept', 'late', 'unknown'));
ALTER TABLE periodic_tick ADD COLUMN finish_why varchar(500);
ALTER TABLE periodic_tick ADD COLUMN finish_ended timestamp;
ALTER TABLE periodic_tick ADD COLUMN finish_look timestamp;
CREATE INDEX nextrun_tick_finish ON periodic_tick (finish_look) WHERE finish_look IS NOT NULL;

-- A value that cannot be read becomes a problem of the row. Only a plan says so, and what is planned for later stays as it is.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_finish AFTER UPDATE OF finish_by ON periodic_task WHEN NEW.finish_by IS NOT OLD.finish_by
BEGIN
  UPDATE periodic_task SET worker = NULL, marked = NULL WHERE id = NEW.id AND worker IS NOT NULL;
  UPDATE periodic_task SET nextrun = '1970-01-01 00:00:00.000000'
   WHERE id = NEW.id AND NEW.nextrun IS OLD.nextrun AND due > strftime('%Y-%m-%d %H:%M:%f000', 'now');
END;
-- +goose StatementEnd

-- What schedulers have not recorded yet is judged by the job as it is now.
CREATE VIEW periodic_finish AS
SELECT k.task_id, k.due, k.finish_by, k.ended, k.judged AS finish, k.judged = 'open' AND k.finish IS 'at risk' AS at_risk,
       CASE WHEN k.judged = 'kept' THEN NULL
            WHEN k.finish IS k.judged OR k.judged = 'open' AND k.finish = 'at risk' THEN k.finish_why
            WHEN k.judged = 'unknown' THEN 'nobody knows how its job ended'
            WHEN k.decision = 'submitted' THEN 'its job ' || CASE k.state WHEN 'success' THEN 'ended too late' WHEN 'failed' THEN 'failed' || coalesce(': ' || substr(k.said, 1, 300), '')
              WHEN 'cancelled' THEN 'was cancelled' WHEN 'running' THEN 'is running' WHEN 'waiting' THEN 'waits in the queue' WHEN 'stuck' THEN 'waits for its next attempt'
              ELSE 'has not ended' END
            ELSE 'the tick was ' || k.decision || coalesce(': ' || substr(k.reason, 1, 300), '') END AS why
  FROM (SELECT e.*, CASE WHEN e.finish IN ('kept', 'late', 'unknown') THEN e.finish
                    WHEN e.state = 'success' AND (e.ended <= e.finish_by OR e.ended IS NULL) THEN 'kept'
                    WHEN e.state = 'unknown' OR e.decision = 'submitted' AND e.state IS NULL
                      AND NOT EXISTS (SELECT 1 FROM periodic_awaited AS a WHERE a.task_id = e.task_id AND a.due = e.due) THEN 'unknown'
                    WHEN e.finish_by <= strftime('%Y-%m-%d %H:%M:%f000', 'now') THEN 'late'
                    ELSE 'open' END AS judged
          FROM (SELECT last.task_id, last.due, last.finish_by, last.decision, last.reason, last.finish, last.finish_why,
                       coalesce(job.state, CASE last.outcome WHEN 'gone' THEN 'success' ELSE last.outcome END) AS state,
                       coalesce(job.result, last.error) AS said,
                       CASE WHEN job.jid IS NOT NULL THEN job.finished ELSE coalesce(last.finished, last.finish_ended) END AS ended
                  FROM periodic_tick AS last
                  LEFT JOIN job ON job.jid = last.jid
                 WHERE last.finish_by IS NOT NULL) AS e) AS k;

-- +goose Down
DROP VIEW IF EXISTS periodic_finish;
DROP TRIGGER IF EXISTS nextrun_task_finish;
DROP INDEX IF EXISTS nextrun_tick_finish;
ALTER TABLE periodic_tick DROP COLUMN finish_by;
ALTER TABLE periodic_tick DROP COLUMN finish;
ALTER TABLE periodic_tick DROP COLUMN finish_why;
ALTER TABLE periodic_tick DROP COLUMN finish_ended;
ALTER TABLE periodic_tick DROP COLUMN finish_look;
ALTER TABLE periodic_task DROP COLUMN finish_by;
