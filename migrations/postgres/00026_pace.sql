-- Ticks that do not come all at once, and tasks that end: spread, catchup_limit, catchup_delay, max_ticks.

-- +goose Up
ALTER TABLE periodic_task
  ADD COLUMN spread        integer NOT NULL DEFAULT 0,
  ADD COLUMN catchup_limit integer,
  ADD COLUMN catchup_delay integer,
  ADD COLUMN max_ticks     integer,
  ADD COLUMN tick_count         integer,
  ADD CONSTRAINT nextrun_spread        CHECK (spread BETWEEN 0 AND 31536000),
  ADD CONSTRAINT nextrun_catchup_limit CHECK (catchup_limit BETWEEN 1 AND 10000),
  ADD CONSTRAINT nextrun_catchup_delay CHECK (catchup_delay BETWEEN 1 AND 31536000),
  ADD CONSTRAINT nextrun_max_ticks     CHECK (max_ticks BETWEEN 1 AND 1000000),
  ADD CONSTRAINT nextrun_tick_count    CHECK (tick_count >= 0);

COMMENT ON COLUMN periodic_task.spread        IS 'seconds; all ticks of the task are later by a part of it that its id determines';
COMMENT ON COLUMN periodic_task.catchup_limit IS 'with catchup all: only the newest so many of the missed ticks are submitted; NULL: all';
COMMENT ON COLUMN periodic_task.catchup_delay IS 'with catchup all: seconds between two missed ticks; NULL: none';
COMMENT ON COLUMN periodic_task.max_ticks     IS 'the task ends when so many ticks of its timer were submitted; NULL: it does not';
COMMENT ON COLUMN periodic_task.tick_count    IS 'so many ticks were submitted since max_ticks is set; written by the scheduler, set it to 0 to count anew';
COMMENT ON COLUMN periodic_task.nextrun       IS 'next submission, UTC: due, the task''s part of spread, and jitter. 1970-01-01: not planned yet; 9999-12-31 23:59:59: never. Set it to run the task then';

-- Intervals that count from `created` count from its second now. What is planned stays on the
-- timer, and ticks of before need not be on it.
UPDATE periodic_task
   SET nextrun = CASE WHEN nextrun = due THEN date_trunc('second', due) ELSE nextrun END,
       due = date_trunc('second', due), changed = clock_timestamp() AT TIME ZONE 'UTC'
 WHERE timer ILIKE '%every%' AND starts IS NULL AND created <> date_trunc('second', created) AND due < '9999-12-31';

-- Another spread, max_ticks or count gives another plan. A scheduler's own updates only raise the count,
-- and lower it where a queue has refused a tick.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_paced() RETURNS trigger LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  NEW.worker := NULL;
  NEW.marked := NULL;
  IF NEW.max_ticks IS NULL THEN
    NEW.tick_count := NULL;
  END IF;
  IF OLD.due IS NOT NULL AND (OLD.due >= '9999-12-31 23:59:59' OR NEW.spread <> OLD.spread OR NEW.max_ticks IS DISTINCT FROM OLD.max_ticks) THEN
    NEW.due := NULL;
    NEW.nextrun := '1970-01-01 00:00:00';
    NEW.changed := clock_timestamp() AT TIME ZONE 'UTC';
  END IF;
  PERFORM pg_notify('nextrun_task', '');
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_paced BEFORE UPDATE OF spread, max_ticks, tick_count ON periodic_task
  FOR EACH ROW
  WHEN (NEW.due IS NOT DISTINCT FROM OLD.due AND NEW.nextrun IS NOT DISTINCT FROM OLD.nextrun AND (
        NEW.spread <> OLD.spread OR NEW.max_ticks IS DISTINCT FROM OLD.max_ticks
        OR NEW.tick_count < OLD.tick_count OR (NEW.tick_count IS NULL AND OLD.tick_count IS NOT NULL)))
  EXECUTE FUNCTION nextrun_task_paced();

-- A table that was there before nextrun has another reader, such as Docspell's scheduler, which ends at a
-- timer that it cannot read.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_timer() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM {{schema}}.nextrun_found WHERE name = 'periodic_task') THEN
    RAISE EXCEPTION 'periodic_task %: the timer % has several parts, which the program that this table belongs to cannot read; add a task for each', NEW.id, NEW.timer
      USING ERRCODE = 'check_violation', COLUMN = 'timer', TABLE = 'periodic_task';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION nextrun_task_timer() FROM PUBLIC;
CREATE TRIGGER nextrun_task_timer_added BEFORE INSERT ON periodic_task
  FOR EACH ROW WHEN (NEW.timer LIKE '%;%') EXECUTE FUNCTION nextrun_task_timer();
CREATE TRIGGER nextrun_task_timer_edited BEFORE UPDATE OF timer ON periodic_task
  FOR EACH ROW WHEN (NEW.timer LIKE '%;%' AND NEW.timer <> OLD.timer) EXECUTE FUNCTION nextrun_task_timer();

-- A tick may be as late as its spread.
DROP VIEW IF EXISTS periodic_stale;
CREATE VIEW periodic_stale AS
SELECT t.id, t.task, t.group_, t.timer, e.expected, u.last_success,
       CASE WHEN t.sink = 'job' OR e.told THEN 'job' ELSE 'submission' END AS judged_by,
       last.decision, last.reason, coalesce(job.state, last.outcome) AS state
  FROM periodic_task AS t
 CROSS JOIN LATERAL (SELECT statement_timestamp() AT TIME ZONE 'UTC' AS now) AS c
 -- The ten newest successes among the last 1,000 ticks, and the median time from the
 -- submission of their jobs to the success.
 CROSS JOIN LATERAL (
    SELECT max(run.done) AS last_success,
           coalesce((array_agg(run.took ORDER BY run.took))[count(run.took) / 2 + 1], interval '0') AS usual
      FROM (SELECT coalesce(r.ended, last.decided) AS done,
                   CASE WHEN r.ended BETWEEN last.decided AND c.now AND last.decided > '1970-01-01' THEN r.ended - last.decided END AS took
              FROM (SELECT k.due, k.jid, k.decision, k.decided, k.outcome, k.finished FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
              LEFT JOIN job ON job.jid = last.jid
             CROSS JOIN LATERAL (SELECT coalesce(job.finished, last.finished) AS ended) AS r
             WHERE last.decision = 'submitted'
               AND CASE WHEN job.state IS NOT NULL THEN job.state = 'success'
                        WHEN last.outcome IS NOT NULL THEN last.outcome IN ('success', 'gone')
                        ELSE t.sink <> 'job' AND NOT EXISTS (SELECT 1 FROM periodic_awaited AS a WHERE a.task_id = t.id AND a.due = last.due) END
             ORDER BY last.due DESC LIMIT 10) AS run) AS u
 CROSS JOIN LATERAL (SELECT c.now - make_interval(secs => 60.0 + t.spread + t.jitter) - 2 * u.usual AS by_now) AS b
 -- The newest tick that must have succeeded by now. One of a pause need not, and nobody
 -- knows of one whose job was deleted.
 CROSS JOIN LATERAL (
    SELECT CASE WHEN t.due <= b.by_now THEN t.due
                ELSE max(CASE WHEN last.until <= b.by_now THEN last.until ELSE last.due END) END AS expected,
           bool_or(last.outcome IS NOT NULL OR EXISTS (SELECT 1 FROM periodic_awaited AS a WHERE a.task_id = t.id AND a.due = last.due)) AS told
      FROM (SELECT k.* FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= b.by_now ORDER BY k.due DESC LIMIT 10) AS last
      LEFT JOIN job ON job.jid = last.jid
     WHERE CASE last.decision WHEN 'skipped' THEN coalesce(last.reason, '') NOT LIKE 'paused%' AND coalesce(last.reason, '') NOT LIKE 'calendar %'
                              AND coalesce(last.reason, '') NOT LIKE 'window %' AND coalesce(last.reason, '') NOT LIKE 'left out by %'
                              WHEN 'submitted' THEN t.sink <> 'job' OR job.state IS NOT NULL OR last.outcome IS NOT NULL
                              ELSE true END) AS e
  LEFT JOIN LATERAL (
    SELECT k.* FROM periodic_tick AS k
     WHERE k.task_id = t.id AND k.due <= e.expected AND (t.due <= b.by_now) IS NOT TRUE
     ORDER BY k.due DESC LIMIT 1) AS last ON true
  LEFT JOIN job ON job.jid = last.jid
 WHERE t.enabled AND (t.paused IS NULL OR t.paused_until <= c.now) AND e.expected IS NOT NULL
   AND (t.due <= b.by_now OR (u.last_success >= e.expected) IS NOT TRUE)
 ORDER BY e.expected;
COMMENT ON VIEW periodic_stale IS 'tasks whose last success is older than the newest tick that must have succeeded by now';

-- +goose Down
DROP TRIGGER IF EXISTS nextrun_task_timer_edited ON periodic_task;
DROP TRIGGER IF EXISTS nextrun_task_timer_added ON periodic_task;
DROP FUNCTION IF EXISTS nextrun_task_timer();
DROP TRIGGER IF EXISTS nextrun_task_paced ON periodic_task;
DROP FUNCTION IF EXISTS nextrun_task_paced();
DROP VIEW IF EXISTS periodic_stale;
ALTER TABLE periodic_task
  DROP COLUMN IF EXISTS spread,
  DROP COLUMN IF EXISTS catchup_limit,
  DROP COLUMN IF EXISTS catchup_delay,
  DROP COLUMN IF EXISTS max_ticks,
  DROP COLUMN IF EXISTS tick_count;
