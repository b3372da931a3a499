-- For those who run it: views to look at, and the task that keeps the tables
-- small, which is a row like any other.

-- +goose Up
CREATE VIEW periodic_upcoming AS
SELECT id, task, group_, timer, due, nextrun, nextrun - (clock_timestamp() AT TIME ZONE 'UTC') AS waits, summary
  FROM periodic_task
 WHERE enabled AND nextrun > '1970-01-01' AND nextrun < '9999-12-31 23:59:59'
 ORDER BY nextrun;
COMMENT ON VIEW periodic_upcoming IS 'enabled tasks that are planned, the next one first';

CREATE VIEW periodic_overdue AS
SELECT id, task, group_, timer, due, nextrun,
       (clock_timestamp() AT TIME ZONE 'UTC') - greatest(nextrun, created) AS overdue, worker, marked
  FROM periodic_task
 WHERE enabled AND greatest(nextrun, created) < (clock_timestamp() AT TIME ZONE 'UTC') - interval '5 seconds'
   AND nextrun <= clock_timestamp() AT TIME ZONE 'UTC'
 ORDER BY greatest(nextrun, created);
COMMENT ON VIEW periodic_overdue IS 'tasks that no scheduler has taken 5 seconds after their time: empty while one is healthy';

CREATE VIEW periodic_health AS
SELECT t.id, t.enabled, t.timer, t.nextrun, t.problem,
       last.due AS last_due, last.decision AS last_decision, last.reason AS last_reason,
       job.state AS last_state, job.finished AS last_finished,
       day.submitted AS submitted_24h, day.skipped AS skipped_24h, day.late AS late_24h, day.missed AS missed_24h,
       (SELECT count(*) FROM periodic_tick AS q WHERE q.task_id = t.id AND q.decision = 'queued') AS queued
  FROM periodic_task AS t
  LEFT JOIN LATERAL (SELECT * FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1) AS last ON true
  LEFT JOIN job ON job.jid = last.jid
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.decision = 'submitted') AS submitted,
           count(*) FILTER (WHERE k.decision = 'skipped') AS skipped,
           count(*) FILTER (WHERE k.decision = 'late') AS late,
           coalesce(sum(abs(k.missed)) FILTER (WHERE k.decision = 'missed'), 0) AS missed
      FROM periodic_tick AS k
     WHERE k.task_id = t.id AND k.due > (clock_timestamp() AT TIME ZONE 'UTC') - interval '24 hours') AS day;
COMMENT ON VIEW periodic_health IS 'each task with its last tick and what became of the ticks of 24 hours';

{{if not (found "periodic_task")}}
INSERT INTO periodic_task (id, task, group_, subject, timer, args, summary)
VALUES ('nextrun-housekeeping', 'nextrun.housekeeping', 'nextrun', 'Delete old ticks, jobs and logs', '*-*-* 03:17',
        '{"ticks_days": 30, "jobs_days": 30, "events_days": 30}', 'keeps the tables small; edit the days in args, or disable it');
{{end}}

-- +goose Down
{{if not (found "periodic_task")}}
DELETE FROM periodic_task WHERE id = 'nextrun-housekeeping';
{{end}}
DROP VIEW periodic_health;
DROP VIEW periodic_overdue;
DROP VIEW periodic_upcoming;
