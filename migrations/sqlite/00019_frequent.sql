-- periodic_stale is right for tasks of every frequency: it looks for the tick that must
-- have succeeded among those that are old enough, not among the newest ones, which are all
-- too young if a task runs every few seconds.

-- +goose Up
DROP VIEW periodic_stale;
CREATE VIEW periodic_stale AS
WITH usual AS MATERIALIZED (
  -- Of the ten newest successes among the last 1,000 ticks, the median time from the
  -- submission of the job to the success, in seconds, and the latest.
  SELECT t.id, t.task, t.group_, t.timer, t.sink, t.due, t.jitter, coalesce((
      SELECT took FROM (
        SELECT took, row_number() OVER (ORDER BY took) AS n, count(*) OVER () AS runs
          FROM (SELECT (julianday(job.finished) - julianday(last.decided)) * 86400.0 AS took
                  FROM (SELECT k.due, k.jid, k.decision, k.decided FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
                  LEFT JOIN job ON job.jid = last.jid
                 WHERE last.decision = 'submitted' AND job.state = 'success' AND job.finished >= last.decided
                 ORDER BY last.due DESC LIMIT 10))
       WHERE n = runs / 2 + 1), 0) AS usual, (
      SELECT max(done) FROM (
        SELECT CASE WHEN t.sink = 'job' THEN job.finished ELSE last.decided END AS done
          FROM (SELECT k.due, k.jid, k.decision, k.decided FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
          LEFT JOIN job ON job.jid = last.jid
         WHERE last.decision = 'submitted' AND (t.sink <> 'job' OR job.state = 'success')
         ORDER BY last.due DESC LIMIT 10)) AS last_success
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
          FROM (SELECT k.* FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.by_now ORDER BY k.due DESC LIMIT 10) AS last
          LEFT JOIN job ON job.jid = last.jid
         WHERE CASE last.decision WHEN 'skipped' THEN coalesce(last.reason, '') NOT LIKE 'paused%'
                                  WHEN 'submitted' THEN t.sink <> 'job' OR job.state IS NOT NULL
                                  ELSE 1 END) END AS expected
    FROM task AS t
)
SELECT t.id, t.task, t.group_, t.timer, t.expected, t.last_success,
       CASE WHEN t.sink = 'job' THEN 'job' ELSE 'submission' END AS judged_by,
       last.decision, last.reason, job.state
  FROM judged AS t
  LEFT JOIN periodic_tick AS last ON NOT t.untaken AND last.task_id = t.id
        AND last.due = (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.expected)
  LEFT JOIN job ON job.jid = last.jid
 WHERE t.expected IS NOT NULL
   AND (t.untaken OR t.last_success IS NULL OR t.last_success < t.expected)
 ORDER BY t.expected;

-- +goose Down
DROP VIEW periodic_stale;
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
