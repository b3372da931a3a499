-- For those who run it: views to look at, and the task that keeps the tables
-- small, which is a row like any other. Intervals are seconds.

-- +goose Up
CREATE VIEW periodic_upcoming AS
SELECT id, task, group_, timer, due, nextrun,
       round((julianday(nextrun) - julianday('now')) * 86400.0, 3) AS waits, summary
  FROM periodic_task
 WHERE enabled AND nextrun > '1970-01-01 00:00:00.000000' AND nextrun < '9999-12-31 23:59:59'
 ORDER BY nextrun;

CREATE VIEW periodic_overdue AS
SELECT id, task, group_, timer, due, nextrun,
       round((julianday('now') - julianday(max(nextrun, created))) * 86400.0, 3) AS overdue, worker, marked
  FROM periodic_task
 WHERE enabled AND max(nextrun, created) < strftime('%Y-%m-%d %H:%M:%f', 'now', '-5 seconds')
   AND nextrun <= strftime('%Y-%m-%d %H:%M:%f000', 'now')
 ORDER BY max(nextrun, created);

CREATE VIEW periodic_health AS
SELECT t.id, t.enabled, t.timer, t.nextrun, t.problem,
       last.due AS last_due, last.decision AS last_decision, last.reason AS last_reason,
       job.state AS last_state, job.finished AS last_finished,
       (SELECT count(*) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'submitted'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS submitted_24h,
       (SELECT count(*) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'skipped'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS skipped_24h,
       (SELECT count(*) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'late'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS late_24h,
       (SELECT coalesce(sum(abs(k.missed)), 0) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'missed'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS missed_24h,
       (SELECT count(*) FROM periodic_tick AS q WHERE q.task_id = t.id AND q.decision = 'queued') AS queued
  FROM periodic_task AS t
  LEFT JOIN periodic_tick AS last ON last.task_id = t.id
        AND last.due = (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id)
  LEFT JOIN job ON job.jid = last.jid;

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
