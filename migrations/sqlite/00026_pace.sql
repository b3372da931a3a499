-- Ticks that do not come all at once, and tasks that end. What the columns mean is said in the comments
-- of postgres/00026_pace.sql.

-- +goose Up
ALTER TABLE periodic_task ADD COLUMN spread integer NOT NULL DEFAULT 0
  CONSTRAINT nextrun_spread CHECK (typeof(spread) = 'integer' AND spread BETWEEN 0 AND 31536000);
ALTER TABLE periodic_task ADD COLUMN catchup_limit integer
  CONSTRAINT nextrun_catchup_limit CHECK (catchup_limit IS NULL OR typeof(catchup_limit) = 'integer' AND catchup_limit BETWEEN 1 AND 10000);
ALTER TABLE periodic_task ADD COLUMN catchup_delay integer
  CONSTRAINT nextrun_catchup_delay CHECK (catchup_delay IS NULL OR typeof(catchup_delay) = 'integer' AND catchup_delay BETWEEN 1 AND 31536000);
ALTER TABLE periodic_task ADD COLUMN max_ticks integer
  CONSTRAINT nextrun_max_ticks CHECK (max_ticks IS NULL OR typeof(max_ticks) = 'integer' AND max_ticks BETWEEN 1 AND 1000000);
ALTER TABLE periodic_task ADD COLUMN tick_count integer
  CONSTRAINT nextrun_tick_count CHECK (tick_count IS NULL OR typeof(tick_count) = 'integer' AND tick_count BETWEEN 0 AND 2147483647);

-- Intervals that count from `created` count from its second now. What is planned stays on the
-- timer, and ticks of before need not be on it.
UPDATE periodic_task
   SET nextrun = CASE WHEN nextrun = due THEN substr(due, 1, 20) || '000000' ELSE nextrun END,
       due = substr(due, 1, 20) || '000000', changed = strftime('%Y-%m-%d %H:%M:%f000', 'now')
 WHERE timer LIKE '%every%' AND starts IS NULL AND substr(created, 21) <> '000000' AND due < '9999-12-31';

-- Another spread, max_ticks or count gives another plan. A scheduler's own updates only raise the count,
-- and lower it where a queue has refused a tick.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_paced AFTER UPDATE OF spread, max_ticks, tick_count ON periodic_task
  WHEN NEW.due IS OLD.due AND NEW.nextrun IS OLD.nextrun AND (
       NEW.spread IS NOT OLD.spread OR NEW.max_ticks IS NOT OLD.max_ticks
       OR NEW.tick_count < OLD.tick_count OR NEW.tick_count IS NULL AND OLD.tick_count IS NOT NULL)
BEGIN
  UPDATE periodic_task SET tick_count = CASE WHEN NEW.max_ticks IS NOT NULL THEN NEW.tick_count END WHERE id = NEW.id;
  -- nextrun_task_edited has the task planned anew.
  UPDATE periodic_task SET nextrun = '1970-01-01 00:00:00.000000'
   WHERE id = NEW.id AND OLD.due IS NOT NULL
     AND (OLD.due >= '9999-12-31 23:59:59' OR NEW.spread IS NOT OLD.spread OR NEW.max_ticks IS NOT OLD.max_ticks);
END;
-- +goose StatementEnd

-- A table that was there before nextrun has another reader, such as Docspell's scheduler, which ends at a
-- timer that it cannot read.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_timer_added BEFORE INSERT ON periodic_task WHEN NEW.timer LIKE '%;%'
BEGIN
  SELECT RAISE(ABORT, 'periodic_task: the timer has several parts, which the program that this table belongs to cannot read; add a task for each')
   WHERE EXISTS (SELECT 1 FROM nextrun_found WHERE name = 'periodic_task');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_timer_edited BEFORE UPDATE OF timer ON periodic_task
  WHEN NEW.timer LIKE '%;%' AND NEW.timer IS NOT OLD.timer
BEGIN
  SELECT RAISE(ABORT, 'periodic_task: the timer has several parts, which the program that this table belongs to cannot read; add a task for each')
   WHERE EXISTS (SELECT 1 FROM nextrun_found WHERE name = 'periodic_task');
END;
-- +goose StatementEnd

-- A tick may be as late as its spread.
DROP VIEW IF EXISTS periodic_stale;
CREATE VIEW periodic_stale AS
WITH usual AS MATERIALIZED (
  -- Of the ten newest successes among the last 1,000 ticks, the median time from the
  -- submission of the job to the success, in seconds, and the latest.
  SELECT t.id, t.task, t.group_, t.timer, t.sink, t.due, t.spread + t.jitter AS delay, coalesce((
      SELECT took FROM (
        SELECT took, row_number() OVER (ORDER BY took) AS n, count(*) OVER () AS runs
          FROM (SELECT (julianday(coalesce(job.finished, last.finished)) - julianday(last.decided)) * 86400.0 AS took
                  FROM (SELECT k.due, k.jid, k.decision, k.decided, k.outcome, k.finished FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
                  LEFT JOIN job ON job.jid = last.jid
                 WHERE last.decision = 'submitted'
                   AND CASE WHEN job.state IS NOT NULL THEN job.state = 'success' ELSE last.outcome IN ('success', 'gone') END
                   AND coalesce(job.finished, last.finished) >= last.decided
                 ORDER BY last.due DESC LIMIT 10))
       WHERE n = runs / 2 + 1), 0) AS usual, (
      SELECT max(done) FROM (
        SELECT coalesce(job.finished, last.finished, last.decided) AS done
          FROM (SELECT k.due, k.jid, k.decision, k.decided, k.outcome, k.finished FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
          LEFT JOIN job ON job.jid = last.jid
         WHERE last.decision = 'submitted'
           AND CASE WHEN job.state IS NOT NULL THEN job.state = 'success'
                    WHEN last.outcome IS NOT NULL THEN last.outcome IN ('success', 'gone')
                    ELSE t.sink <> 'job' AND NOT EXISTS (SELECT 1 FROM periodic_awaited AS a WHERE a.task_id = t.id AND a.due = last.due) END
         ORDER BY last.due DESC LIMIT 10)) AS last_success
    FROM periodic_task AS t
   WHERE t.enabled AND (t.paused IS NULL OR t.paused_until <= strftime('%Y-%m-%d %H:%M:%f', 'now'))
), task AS MATERIALIZED (
  SELECT *, strftime('%Y-%m-%d %H:%M:%f', 'now', printf('-%.3f seconds', 60 + delay + 2 * usual)) AS by_now FROM usual
), judged AS MATERIALIZED (
  -- The newest tick that must have succeeded by now. One of a pause need not, and nobody
  -- knows of one whose job was deleted.
  SELECT t.*, coalesce(t.due <= t.by_now, 0) AS untaken,
      CASE WHEN t.due <= t.by_now THEN t.due ELSE (
        SELECT max(CASE WHEN last.until <= t.by_now THEN last.until ELSE last.due END)
          FROM (SELECT k.* FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.by_now ORDER BY k.due DESC LIMIT 10) AS last
          LEFT JOIN job ON job.jid = last.jid
         WHERE CASE last.decision WHEN 'skipped' THEN coalesce(last.reason, '') NOT LIKE 'paused%' AND coalesce(last.reason, '') NOT LIKE 'calendar %'
                              AND coalesce(last.reason, '') NOT LIKE 'window %' AND coalesce(last.reason, '') NOT LIKE 'left out by %'
                                  WHEN 'submitted' THEN t.sink <> 'job' OR job.state IS NOT NULL OR last.outcome IS NOT NULL
                                  ELSE 1 END) END AS expected,
      EXISTS (SELECT 1 FROM (SELECT k.due, k.outcome FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.by_now ORDER BY k.due DESC LIMIT 10) AS last
               WHERE last.outcome IS NOT NULL OR EXISTS (SELECT 1 FROM periodic_awaited AS a WHERE a.task_id = t.id AND a.due = last.due)) AS told
    FROM task AS t
)
SELECT t.id, t.task, t.group_, t.timer, t.expected, t.last_success,
       CASE WHEN t.sink = 'job' OR t.told THEN 'job' ELSE 'submission' END AS judged_by,
       last.decision, last.reason, coalesce(job.state, last.outcome) AS state
  FROM judged AS t
  LEFT JOIN periodic_tick AS last ON NOT t.untaken AND last.task_id = t.id
        AND last.due = (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.expected)
  LEFT JOIN job ON job.jid = last.jid
 WHERE t.expected IS NOT NULL
   AND (t.untaken OR t.last_success IS NULL OR t.last_success < t.expected)
 ORDER BY t.expected;

-- +goose Down
DROP TRIGGER IF EXISTS nextrun_task_timer_edited;
DROP TRIGGER IF EXISTS nextrun_task_timer_added;
DROP TRIGGER IF EXISTS nextrun_task_paced;
DROP VIEW IF EXISTS periodic_stale;
{{if found "periodic_task"}}
ALTER TABLE periodic_task DROP COLUMN spread;
ALTER TABLE periodic_task DROP COLUMN catchup_limit;
ALTER TABLE periodic_task DROP COLUMN catchup_delay;
ALTER TABLE periodic_task DROP COLUMN max_ticks;
ALTER TABLE periodic_task DROP COLUMN tick_count;
{{end}}
