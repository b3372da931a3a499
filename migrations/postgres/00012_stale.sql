-- The view of tasks that should have succeeded and did not, and pauses that end and
-- begin cleanly when somebody writes `paused` alone.

-- +goose Up
-- The rule of the alert NextrunTaskStale, as far as SQL knows: it cannot read timers, so
-- of ticks that nobody has decided it sees the planned one only.
CREATE VIEW periodic_stale AS
SELECT t.id, t.task, t.group_, t.timer, e.expected,
       (SELECT max(CASE WHEN t.sink <> 'job' THEN last.decided WHEN job.state = 'success' THEN job.finished END)
          FROM (SELECT k.jid, k.decided FROM periodic_tick AS k
                 WHERE k.task_id = t.id AND k.decision = 'submitted' ORDER BY k.due DESC LIMIT 50) AS last
          LEFT JOIN job ON job.jid = last.jid) AS last_success,
       CASE WHEN t.sink = 'job' THEN 'job' ELSE 'submission' END AS judged_by,
       last.decision, last.reason, job.state
  FROM periodic_task AS t
 CROSS JOIN LATERAL (SELECT statement_timestamp() AT TIME ZONE 'UTC' AS now) AS c
 -- The median time from the submission of a job to its success.
 CROSS JOIN LATERAL (
    SELECT coalesce((array_agg(job.finished - last.decided ORDER BY job.finished - last.decided))[count(*) / 2 + 1], interval '0') AS usual
      FROM (SELECT k.jid, k.decided FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 10) AS last
      LEFT JOIN job ON job.jid = last.jid
     WHERE job.state = 'success' AND job.finished BETWEEN last.decided AND c.now AND last.decided > '1970-01-01') AS u
 CROSS JOIN LATERAL (SELECT c.now - make_interval(secs => 60.0 + t.jitter) - 2 * u.usual AS by_now) AS b
 -- The newest tick that must have succeeded by now. One of a pause need not, and nobody
 -- knows of one whose job was deleted.
 CROSS JOIN LATERAL (
    SELECT CASE WHEN t.due <= b.by_now THEN t.due
                ELSE max(CASE WHEN last.until <= b.by_now THEN last.until ELSE last.due END) END AS expected
      FROM (SELECT k.* FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 10) AS last
      LEFT JOIN job ON job.jid = last.jid
     WHERE last.due <= b.by_now
       AND CASE last.decision WHEN 'skipped' THEN coalesce(last.reason, '') NOT LIKE 'paused%'
                              WHEN 'submitted' THEN t.sink <> 'job' OR job.state IS NOT NULL
                              ELSE true END) AS e
  LEFT JOIN LATERAL (
    SELECT k.* FROM periodic_tick AS k
     WHERE k.task_id = t.id AND k.due <= e.expected AND (t.due <= b.by_now) IS NOT TRUE
     ORDER BY k.due DESC LIMIT 1) AS last ON true
  LEFT JOIN job ON job.jid = last.jid
 WHERE t.enabled AND (t.paused IS NULL OR t.paused_until <= c.now) AND e.expected IS NOT NULL
   AND (t.due <= b.by_now OR NOT EXISTS (
         SELECT 1 FROM (SELECT k.jid, k.decision, k.decided FROM periodic_tick AS k
                         WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 50) AS last
           LEFT JOIN job ON job.jid = last.jid
          WHERE CASE WHEN t.sink <> 'job' THEN last.decision = 'submitted' AND last.decided >= e.expected
                     ELSE job.state = 'success' AND job.finished >= e.expected END))
 ORDER BY e.expected;
COMMENT ON VIEW periodic_stale IS 'tasks whose last success is older than the newest tick that must have succeeded by now';

-- Ticks that a pause will skip are not to come.
CREATE OR REPLACE VIEW periodic_upcoming AS
SELECT id, task, group_, timer, due, nextrun, nextrun - (statement_timestamp() AT TIME ZONE 'UTC') AS waits, summary
  FROM periodic_task
 WHERE enabled AND nextrun > '1970-01-01' AND nextrun < '9999-12-31 23:59:59'
   AND (paused IS NULL OR due IS NULL OR paused_until <= due)
 ORDER BY nextrun;
COMMENT ON VIEW periodic_upcoming IS 'enabled tasks that are planned, the next one first, without those that a pause will skip';

UPDATE periodic_task SET paused = statement_timestamp() AT TIME ZONE 'UTC'
 WHERE paused NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999';

-- As before, and: a task that is resumed keeps nothing of its pause, and a new pause does
-- not end when an earlier one did.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextrun_task_paused() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF NEW.paused NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: paused % is out of range; to pause the task set it to the current UTC time (paused_until says when the pause ends), to resume it set it to NULL', NEW.id, NEW.paused
      USING ERRCODE = 'check_violation', COLUMN = 'paused', TABLE = 'periodic_task';
  END IF;
  IF NEW.paused_until NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: paused_until % is out of range; use a UTC time between 1970-01-01 and 9999-12-31, or NULL', NEW.id, NEW.paused_until
      USING ERRCODE = 'check_violation', COLUMN = 'paused_until', TABLE = 'periodic_task';
  END IF;
  IF TG_OP = 'UPDATE' THEN
    IF NEW.paused IS NULL AND OLD.paused IS NOT NULL THEN
      NEW.paused_until := NULL;
      NEW.paused_by := NULL;
      NEW.paused_reason := NULL;
    ELSIF NEW.paused IS DISTINCT FROM OLD.paused AND NEW.paused_until <= NEW.paused AND NEW.paused_until = OLD.paused_until THEN
      NEW.paused_until := NULL;
    END IF;
    NEW.worker := NULL;
    NEW.marked := NULL;
    IF EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = NEW.id AND decision = 'queued') THEN
      INSERT INTO periodic_ready (task_id) VALUES (NEW.id);
    END IF;
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
DROP TRIGGER nextrun_task_paused_added ON periodic_task;
CREATE TRIGGER nextrun_task_paused_added BEFORE INSERT ON periodic_task
  FOR EACH ROW WHEN (NEW.paused IS NOT NULL OR NEW.paused_until IS NOT NULL) EXECUTE FUNCTION nextrun_task_paused();
REVOKE EXECUTE ON FUNCTION nextrun_task_paused() FROM PUBLIC;

-- +goose StatementBegin
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION nextrun_task_paused() SET search_path = %I, pg_temp', current_schema());
END $$;
-- +goose StatementEnd

-- +goose Down
DROP VIEW periodic_stale;
CREATE OR REPLACE VIEW periodic_upcoming AS
SELECT id, task, group_, timer, due, nextrun, nextrun - (statement_timestamp() AT TIME ZONE 'UTC') AS waits, summary
  FROM periodic_task
 WHERE enabled AND nextrun > '1970-01-01' AND nextrun < '9999-12-31 23:59:59'
 ORDER BY nextrun;
