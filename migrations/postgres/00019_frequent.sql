-- periodic_stale is right for tasks of every frequency: it looks for the tick that must
-- have succeeded among those that are old enough, not among the newest ones, which are all
-- too young if a task runs every few seconds.

-- +goose Up
CREATE OR REPLACE VIEW periodic_stale AS
SELECT t.id, t.task, t.group_, t.timer, e.expected, u.last_success,
       CASE WHEN t.sink = 'job' THEN 'job' ELSE 'submission' END AS judged_by,
       last.decision, last.reason, job.state
  FROM periodic_task AS t
 CROSS JOIN LATERAL (SELECT statement_timestamp() AT TIME ZONE 'UTC' AS now) AS c
 -- The ten newest successes among the last 1,000 ticks, and the median time from the
 -- submission of their jobs to the success.
 CROSS JOIN LATERAL (
    SELECT max(run.done) AS last_success,
           coalesce((array_agg(run.took ORDER BY run.took))[count(run.took) / 2 + 1], interval '0') AS usual
      FROM (SELECT CASE WHEN t.sink = 'job' THEN job.finished ELSE last.decided END AS done,
                   CASE WHEN job.finished BETWEEN last.decided AND c.now AND last.decided > '1970-01-01' THEN job.finished - last.decided END AS took
              FROM (SELECT k.due, k.jid, k.decision, k.decided FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
              LEFT JOIN job ON job.jid = last.jid
             WHERE last.decision = 'submitted' AND (t.sink <> 'job' OR job.state = 'success')
             ORDER BY last.due DESC LIMIT 10) AS run) AS u
 CROSS JOIN LATERAL (SELECT c.now - make_interval(secs => 60.0 + t.jitter) - 2 * u.usual AS by_now) AS b
 -- The newest tick that must have succeeded by now. One of a pause need not, and nobody
 -- knows of one whose job was deleted.
 CROSS JOIN LATERAL (
    SELECT CASE WHEN t.due <= b.by_now THEN t.due
                ELSE max(CASE WHEN last.until <= b.by_now THEN last.until ELSE last.due END) END AS expected
      FROM (SELECT k.* FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= b.by_now ORDER BY k.due DESC LIMIT 10) AS last
      LEFT JOIN job ON job.jid = last.jid
     WHERE CASE last.decision WHEN 'skipped' THEN coalesce(last.reason, '') NOT LIKE 'paused%'
                              WHEN 'submitted' THEN t.sink <> 'job' OR job.state IS NOT NULL
                              ELSE true END) AS e
  LEFT JOIN LATERAL (
    SELECT k.* FROM periodic_tick AS k
     WHERE k.task_id = t.id AND k.due <= e.expected AND (t.due <= b.by_now) IS NOT TRUE
     ORDER BY k.due DESC LIMIT 1) AS last ON true
  LEFT JOIN job ON job.jid = last.jid
 WHERE t.enabled AND (t.paused IS NULL OR t.paused_until <= c.now) AND e.expected IS NOT NULL
   AND (t.due <= b.by_now OR (u.last_success >= e.expected) IS NOT TRUE)
 ORDER BY e.expected;

-- +goose Down
CREATE OR REPLACE VIEW periodic_stale AS
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
