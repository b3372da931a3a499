-- The view of tasks that should have succeeded and did not, and pauses that end and
-- begin cleanly when somebody writes `paused` alone.

{{/* utc is the time text {{.}} as YYYY-MM-DD HH:MM:SS.ffffff in UTC, or NULL where it is none. */}}
{{define "utc"}}(
    SELECT CASE WHEN typeof(c) <> 'text' OR instr(c, char(0)) THEN NULL
      WHEN c NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]*' THEN NULL
      WHEN date(substr(c, 1, 10), '+0 days') IS NOT substr(c, 1, 10) OR substr(c, 12, 2) > '23' THEN NULL
      WHEN body <> '' AND body NOT GLOB ':[0-5][0-9]'
       AND (body NOT GLOB ':[0-5][0-9].[0-9]*' OR substr(body, 5) GLOB '*[^0-9]*') THEN NULL
      WHEN utc NOT GLOB '[0-9][0-9][0-9][0-9]-*' OR utc < '1970-01-01' THEN NULL
      ELSE utc || '.' || substr(substr(body, 5) || '000000', 1, 6) END
    FROM (SELECT c, body, strftime('%Y-%m-%d %H:%M:%S', substr(c, 1, 16) || coalesce(nullif(substr(body, 1, 3), ''), ':00') || zone) AS utc
      FROM (SELECT c, zone, substr(tail, 1, length(tail) - length(zone)) AS body
        FROM (SELECT c, tail, CASE WHEN tail GLOB '*Z' THEN 'Z'
                                   WHEN tail GLOB '*[+-][0-9][0-9]:[0-9][0-9]' THEN substr(tail, -6)
                                   ELSE '' END AS zone
          FROM (SELECT {{.}} AS c, substr({{.}}, 17) AS tail)))))
{{end}}

-- +goose Up
-- The rule of the alert NextrunTaskStale, as far as SQL knows: it cannot read timers, so
-- of ticks that nobody has decided it sees the planned one only.
CREATE VIEW periodic_stale AS
WITH usual AS MATERIALIZED (
  -- The median time from the submission of a job to its success, in seconds.
  SELECT t.id, t.task, t.group_, t.timer, t.sink, t.due, t.jitter, coalesce((
      SELECT took FROM (
        SELECT took, row_number() OVER (ORDER BY took) AS n, count(*) OVER () AS runs
          FROM (SELECT (julianday(job.finished) - julianday(last.decided)) * 86400.0 AS took
                  FROM (SELECT k.jid, k.decided FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 10) AS last
                  LEFT JOIN job ON job.jid = last.jid
                 WHERE job.state = 'success' AND job.finished >= last.decided))
       WHERE n = runs / 2 + 1), 0) AS usual
    FROM periodic_task AS t
   WHERE t.enabled AND (t.paused IS NULL OR t.paused_until <= strftime('%Y-%m-%d %H:%M:%f', 'now'))
), task AS MATERIALIZED (
  SELECT *, strftime('%Y-%m-%d %H:%M:%f', 'now', printf('-%.3f seconds', 60 + jitter + 2 * usual)) AS by_now FROM usual
), judged AS MATERIALIZED (
  -- The newest tick that must have succeeded by now. One of a pause need not, and nobody
  -- knows of one whose job was deleted.
  SELECT t.*, coalesce(t.due <= t.by_now, 0) AS untaken,
      CASE WHEN t.due <= t.by_now THEN t.due ELSE (
        SELECT max(CASE WHEN last.until <= t.by_now THEN last.until ELSE last.due END)
          FROM (SELECT k.* FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 10) AS last
          LEFT JOIN job ON job.jid = last.jid
         WHERE last.due <= t.by_now
           AND CASE last.decision WHEN 'skipped' THEN coalesce(last.reason, '') NOT LIKE 'paused%'
                                  WHEN 'submitted' THEN t.sink <> 'job' OR job.state IS NOT NULL
                                  ELSE 1 END) END AS expected
    FROM task AS t
)
SELECT t.id, t.task, t.group_, t.timer, t.expected,
       (SELECT max(CASE WHEN t.sink <> 'job' THEN last.decided WHEN job.state = 'success' THEN job.finished END)
          FROM (SELECT k.jid, k.decided FROM periodic_tick AS k
                 WHERE k.task_id = t.id AND k.decision = 'submitted' ORDER BY k.due DESC LIMIT 50) AS last
          LEFT JOIN job ON job.jid = last.jid) AS last_success,
       CASE WHEN t.sink = 'job' THEN 'job' ELSE 'submission' END AS judged_by,
       last.decision, last.reason, job.state
  FROM judged AS t
  LEFT JOIN periodic_tick AS last ON NOT t.untaken AND last.task_id = t.id
        AND last.due = (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.expected)
  LEFT JOIN job ON job.jid = last.jid
 WHERE t.expected IS NOT NULL
   AND (t.untaken OR NOT EXISTS (
         SELECT 1 FROM (SELECT k.jid, k.decision, k.decided FROM periodic_tick AS k
                         WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 50) AS last
           LEFT JOIN job ON job.jid = last.jid
          WHERE CASE WHEN t.sink <> 'job' THEN last.decision = 'submitted' AND last.decided >= t.expected
                     ELSE job.state = 'success' AND job.finished >= t.expected END))
 ORDER BY t.expected;

-- Ticks that a pause will skip are not to come.
DROP VIEW periodic_upcoming;
CREATE VIEW periodic_upcoming AS
SELECT id, task, group_, timer, due, nextrun,
       round((julianday(nextrun) - julianday('now')) * 86400.0, 3) AS waits, summary
  FROM periodic_task
 WHERE enabled AND nextrun > '1970-01-01 00:00:00.000000' AND nextrun < '9999-12-31 23:59:59'
   AND (paused IS NULL OR due IS NULL OR paused_until <= due)
 ORDER BY nextrun;

-- As before, and: a task that is resumed keeps nothing of its pause, and a new pause does
-- not end when an earlier one did.
DROP TRIGGER nextrun_task_refuse_paused;
DROP TRIGGER nextrun_task_refuse_paused_added;
DROP TRIGGER nextrun_task_paused;
{{define "refusePause"}}
  SELECT RAISE(ABORT, 'periodic_task: paused must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; to pause the task set it to CURRENT_TIMESTAMP (paused_until says when the pause ends), to resume it set it to NULL')
    WHERE NEW.paused IS NOT NULL AND {{template "utc" "NEW.paused"}} IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: paused_until must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.paused_until IS NOT NULL AND {{template "utc" "NEW.paused_until"}} IS NULL;
{{end}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_paused BEFORE UPDATE OF paused, paused_until ON periodic_task
  WHEN NEW.paused IS NOT OLD.paused OR NEW.paused_until IS NOT OLD.paused_until
BEGIN
{{template "refusePause"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_paused_added BEFORE INSERT ON periodic_task
  WHEN NEW.paused IS NOT NULL OR NEW.paused_until IS NOT NULL
BEGIN
{{template "refusePause"}}
END;
-- +goose StatementEnd
-- A scheduler that marked the row decided without the pause, so it loses the row. The
-- plan stays. Queued ticks may go when a pause ends.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_paused AFTER UPDATE OF paused, paused_until ON periodic_task
  WHEN NEW.paused IS NOT OLD.paused OR NEW.paused_until IS NOT OLD.paused_until
BEGIN
  UPDATE periodic_task
     SET worker = NULL, marked = NULL,
         paused_by     = CASE WHEN NEW.paused IS NOT NULL OR OLD.paused IS NULL THEN NEW.paused_by END,
         paused_reason = CASE WHEN NEW.paused IS NOT NULL OR OLD.paused IS NULL THEN NEW.paused_reason END,
         (paused, paused_until) = (SELECT since,
           CASE WHEN since IS NULL AND OLD.paused IS NOT NULL THEN NULL
                WHEN since IS NOT OLD.paused AND till <= since AND till IS OLD.paused_until THEN NULL
                ELSE till END
           FROM (SELECT CASE WHEN NEW.paused IS NOT NULL THEN {{template "utc" "NEW.paused"}} END AS since,
                        CASE WHEN NEW.paused_until IS NOT NULL THEN {{template "utc" "NEW.paused_until"}} END AS till))
   WHERE id = NEW.id;
  INSERT INTO periodic_ready (task_id) SELECT NEW.id
   WHERE EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = NEW.id AND decision = 'queued')
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = NEW.id);
END;
-- +goose StatementEnd

-- +goose Down
DROP VIEW periodic_stale;
DROP VIEW periodic_upcoming;
CREATE VIEW periodic_upcoming AS
SELECT id, task, group_, timer, due, nextrun,
       round((julianday(nextrun) - julianday('now')) * 86400.0, 3) AS waits, summary
  FROM periodic_task
 WHERE enabled AND nextrun > '1970-01-01 00:00:00.000000' AND nextrun < '9999-12-31 23:59:59'
 ORDER BY nextrun;
