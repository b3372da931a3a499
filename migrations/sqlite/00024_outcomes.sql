-- +goose Up
-- How the jobs of other queues ended: success, failed, cancelled, gone (which counts as success) or
-- unknown. Ticks of nextrun's own queue leave these columns empty: their jobs are in the table job.
-- finished is when that was seen if the queue does not tell, and error the first 1,000 characters
-- of what the worker said.
ALTER TABLE periodic_tick ADD COLUMN outcome varchar(16) CONSTRAINT nextrun_outcome
  CHECK (outcome IN ('success', 'failed', 'cancelled', 'gone', 'unknown'));
ALTER TABLE periodic_tick ADD COLUMN finished timestamp;
ALTER TABLE periodic_tick ADD COLUMN attempts integer;
ALTER TABLE periodic_tick ADD COLUMN error varchar(1000);

-- The jobs in other queues whose end is not recorded yet. A row is added in the transaction that
-- submits the job, and deleted in the one that records how it ended. A scheduler asks the queue at
-- the time look; a trigger on the queue's tables moves it to the present when the job ends, and may
-- write how it saw the job end, and when, for a row that is gone when the scheduler asks. Hooks
-- hear of an end only if it came later than hooks_from.
CREATE TABLE periodic_awaited (
  task_id    varchar(254) NOT NULL,
  due        timestamp    NOT NULL,
  sink       varchar(64)  NOT NULL,
  ref        text         NOT NULL,
  jid        varchar(254) NOT NULL,
  submitted  timestamp    NOT NULL,
  look       timestamp    NOT NULL,
  seen       varchar(16),
  ended      timestamp,
  hooks_from timestamp,
  PRIMARY KEY (task_id, due)
) WITHOUT ROWID;
CREATE INDEX nextrun_awaited_look ON periodic_awaited (sink, look);

-- Hooks need not hear of what ended before they could.
INSERT INTO periodic_awaited (task_id, due, sink, ref, jid, submitted, look, hooks_from)
SELECT task_id, due, sink, ref, jid, submitted, strftime('%Y-%m-%d %H:%M:%f000', 'now'), strftime('%Y-%m-%d %H:%M:%f000', 'now')
  FROM periodic_open;

DROP VIEW IF EXISTS periodic_health;
CREATE VIEW periodic_health AS
SELECT t.id, t.enabled, t.timer, t.nextrun, t.problem,
       last.due AS last_due, last.decision AS last_decision, last.reason AS last_reason,
       coalesce(job.state, last.outcome) AS last_state, coalesce(job.finished, last.finished) AS last_finished,
       (SELECT count(*) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'submitted'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS submitted_24h,
       (SELECT count(*) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'skipped'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS skipped_24h,
       (SELECT count(*) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'late'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS late_24h,
       (SELECT coalesce(sum(CASE WHEN k.missed BETWEEN -2147483648 AND 2147483647 THEN abs(k.missed) END), 0)
          FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'missed'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS missed_24h,
       (SELECT count(*) FROM periodic_tick AS q WHERE q.task_id = t.id AND q.decision = 'queued') AS queued,
       coalesce(CASE WHEN job.state IN ('failed', 'stuck') THEN job.result END, last.error) AS last_error
  FROM periodic_task AS t
  LEFT JOIN periodic_tick AS last ON last.task_id = t.id
        AND last.due = (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id)
  LEFT JOIN job ON job.jid = last.jid;

-- The rule of the alert NextrunTaskStale, as far as SQL knows: it cannot read timers, so of
-- ticks that nobody has decided it sees the planned one only. It looks for the tick that must
-- have succeeded among those that are old enough, not among the newest ones, which are all too
-- young if a task runs every few seconds. A submission counts as success where nobody can tell
-- how the job ends: it has no outcome, and none is awaited.
DROP VIEW IF EXISTS periodic_stale;
CREATE VIEW periodic_stale AS
WITH usual AS MATERIALIZED (
  -- Of the ten newest successes among the last 1,000 ticks, the median time from the
  -- submission of the job to the success, in seconds, and the latest.
  SELECT t.id, t.task, t.group_, t.timer, t.sink, t.due, t.jitter, coalesce((
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
DROP VIEW IF EXISTS periodic_stale;
DROP VIEW IF EXISTS periodic_health;
DROP TABLE IF EXISTS periodic_awaited;
ALTER TABLE periodic_tick DROP COLUMN outcome;
ALTER TABLE periodic_tick DROP COLUMN finished;
ALTER TABLE periodic_tick DROP COLUMN attempts;
ALTER TABLE periodic_tick DROP COLUMN error;
