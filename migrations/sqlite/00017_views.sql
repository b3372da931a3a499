-- Values that nobody writes, such as a number with 19 digits, hide no other rows from the views.

-- +goose Up
DROP VIEW periodic_health;
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
       (SELECT coalesce(sum(CASE WHEN k.missed BETWEEN -2147483648 AND 2147483647 THEN abs(k.missed) END), 0)
          FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'missed'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS missed_24h,
       (SELECT count(*) FROM periodic_tick AS q WHERE q.task_id = t.id AND q.decision = 'queued') AS queued
  FROM periodic_task AS t
  LEFT JOIN periodic_tick AS last ON last.task_id = t.id
        AND last.due = (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id)
  LEFT JOIN job ON job.jid = last.jid;

-- +goose Down
DROP VIEW periodic_health;
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
