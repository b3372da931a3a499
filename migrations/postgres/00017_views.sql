-- Values that nobody writes, such as a time of infinity, hide no other rows from the views.

-- +goose Up
-- A message of the time infinity has no age.
CREATE OR REPLACE VIEW outbox_lag AS
  SELECT topic,
         count(*) FILTER (WHERE dead IS NULL) AS pending,
         min(created) FILTER (WHERE dead IS NULL) AS oldest,
         greatest(extract(epoch FROM (clock_timestamp() AT TIME ZONE 'UTC') -
           min(created) FILTER (WHERE dead IS NULL AND isfinite(created))), 0)::double precision AS age,
         count(*) FILTER (WHERE dead IS NOT NULL) AS dead
    FROM outbox_message WHERE published IS NULL GROUP BY topic;

CREATE OR REPLACE VIEW periodic_health AS
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
           coalesce(sum(abs(k.missed::bigint)) FILTER (WHERE k.decision = 'missed'), 0)::bigint AS missed
      FROM periodic_tick AS k
     WHERE k.task_id = t.id AND k.due > (statement_timestamp() AT TIME ZONE 'UTC') - interval '24 hours') AS day;

-- +goose Down
CREATE OR REPLACE VIEW periodic_health AS
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
     WHERE k.task_id = t.id AND k.due > (statement_timestamp() AT TIME ZONE 'UTC') - interval '24 hours') AS day;

CREATE OR REPLACE VIEW outbox_lag AS
  SELECT topic,
         count(*) FILTER (WHERE dead IS NULL) AS pending,
         min(created) FILTER (WHERE dead IS NULL) AS oldest,
         greatest(extract(epoch FROM (clock_timestamp() AT TIME ZONE 'UTC') -
           min(created) FILTER (WHERE dead IS NULL)), 0)::double precision AS age,
         count(*) FILTER (WHERE dead IS NOT NULL) AS dead
    FROM outbox_message WHERE published IS NULL GROUP BY topic;
