-- +goose Up
-- How the jobs of other queues ended. Ticks of nextrun's own queue leave these columns empty:
-- their jobs are in the table job.
ALTER TABLE periodic_tick
  ADD COLUMN outcome  varchar(16),
  ADD COLUMN finished timestamp,
  ADD COLUMN attempts integer,
  ADD COLUMN error    varchar(1000);
-- NOT VALID: no row of before has a value, so none needs to be read.
ALTER TABLE periodic_tick ADD CONSTRAINT nextrun_outcome
  CHECK (outcome IN ('success', 'failed', 'cancelled', 'gone', 'unknown')) NOT VALID;
COMMENT ON COLUMN periodic_tick.outcome  IS 'how the job in another queue ended: success, failed, cancelled, gone (which counts as success) or unknown; NULL: not yet, or the job is in nextrun''s own queue';
COMMENT ON COLUMN periodic_tick.finished IS 'when that job ended, UTC; if its queue does not tell, when that was seen';
COMMENT ON COLUMN periodic_tick.attempts IS 'how often that job was tried; NULL: its queue does not tell';
COMMENT ON COLUMN periodic_tick.error    IS 'what its worker said, the first 1,000 characters';

-- The jobs in other queues whose end is not recorded yet. A row is added in the transaction that
-- submits the job, and deleted in the one that records how it ended.
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
);
COMMENT ON TABLE  periodic_awaited            IS 'jobs in other queues whose end is not recorded yet in periodic_tick';
COMMENT ON COLUMN periodic_awaited.look       IS 'when a scheduler asks the queue next, UTC; a trigger on the queue''s tables moves it to the present when the job ends';
COMMENT ON COLUMN periodic_awaited.seen       IS 'the outcome, as such a trigger saw it, for a row that is gone when the scheduler asks';
COMMENT ON COLUMN periodic_awaited.ended      IS 'when the trigger saw that, UTC';
COMMENT ON COLUMN periodic_awaited.hooks_from IS 'hooks hear of the end only if it came later, UTC; NULL: always';
CREATE INDEX nextrun_awaited_look ON periodic_awaited (sink, look);

-- Hooks need not hear of what ended before they could.
INSERT INTO periodic_awaited (task_id, due, sink, ref, jid, submitted, look, hooks_from)
SELECT task_id, due, sink, ref, jid, submitted, clock_timestamp() AT TIME ZONE 'UTC', clock_timestamp() AT TIME ZONE 'UTC'
  FROM periodic_open;

DROP VIEW IF EXISTS periodic_health;
CREATE VIEW periodic_health AS
SELECT t.id, t.enabled, t.timer, t.nextrun, t.problem,
       last.due AS last_due, last.decision AS last_decision, last.reason AS last_reason,
       coalesce(job.state, last.outcome) AS last_state, coalesce(job.finished, last.finished) AS last_finished,
       day.submitted AS submitted_24h, day.skipped AS skipped_24h, day.late AS late_24h, day.missed AS missed_24h,
       (SELECT count(*) FROM periodic_tick AS q WHERE q.task_id = t.id AND q.decision = 'queued') AS queued,
       coalesce(CASE WHEN job.state IN ('failed', 'stuck') THEN job.result END, last.error) AS last_error
  FROM periodic_task AS t
  LEFT JOIN LATERAL (SELECT * FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1) AS last ON true
  LEFT JOIN job ON job.jid = last.jid
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.decision = 'submitted') AS submitted,
           count(*) FILTER (WHERE k.decision = 'skipped') AS skipped,
           count(*) FILTER (WHERE k.decision = 'late') AS late,
           coalesce(sum(abs(k.missed::bigint)) FILTER (WHERE k.decision = 'missed'), 0)::bigint AS missed
      FROM periodic_tick AS k
     WHERE k.task_id = t.id AND k.due > (statement_timestamp() AT TIME ZONE 'UTC') - interval '24 hours') AS day;
COMMENT ON VIEW periodic_health IS 'each task with its last tick and what became of the ticks of 24 hours';

-- The rule of the alert NextrunTaskStale, as far as SQL knows: it cannot read timers, so of
-- ticks that nobody has decided it sees the planned one only. It looks for the tick that must
-- have succeeded among those that are old enough, not among the newest ones, which are all too
-- young if a task runs every few seconds. A submission counts as success where nobody can tell
-- how the job ends: it has no outcome, and none is awaited.
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
 CROSS JOIN LATERAL (SELECT c.now - make_interval(secs => 60.0 + t.jitter) - 2 * u.usual AS by_now) AS b
 -- The newest tick that must have succeeded by now. One of a pause need not, and nobody
 -- knows of one whose job was deleted.
 CROSS JOIN LATERAL (
    SELECT CASE WHEN t.due <= b.by_now THEN t.due
                ELSE max(CASE WHEN last.until <= b.by_now THEN last.until ELSE last.due END) END AS expected,
           bool_or(last.outcome IS NOT NULL OR EXISTS (SELECT 1 FROM periodic_awaited AS a WHERE a.task_id = t.id AND a.due = last.due)) AS told
      FROM (SELECT k.* FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= b.by_now ORDER BY k.due DESC LIMIT 10) AS last
      LEFT JOIN job ON job.jid = last.jid
     WHERE CASE last.decision WHEN 'skipped' THEN coalesce(last.reason, '') NOT LIKE 'paused%'
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
DROP VIEW IF EXISTS periodic_stale;
DROP VIEW IF EXISTS periodic_health;
DROP TABLE IF EXISTS periodic_awaited;
ALTER TABLE periodic_tick
  DROP COLUMN outcome,
  DROP COLUMN finished,
  DROP COLUMN attempts,
  DROP COLUMN error;
