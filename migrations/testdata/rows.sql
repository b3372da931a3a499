-- A row in each table of migration 1, as a program of that time leaves them.
INSERT INTO periodic_calendar (name, first_day, last_day, reason) VALUES ('holidays', '2026-12-24', '2026-12-26', 'closed');
INSERT INTO periodic_task (id, task, timer, exclude_calendars, overlap) VALUES ('kept', 'backup', '*-*-* 02:00 Europe/Berlin', 'holidays', 'queue');
INSERT INTO periodic_task (id, task, timer, enabled, paused, paused_reason) VALUES ('paused', 'backup', 'every 1h', false, '2026-11-02 00:00:00.000000', 'the moon');
INSERT INTO periodic_tick (task_id, due, decision, jid, worker, decided, outcome, finished, attempts)
  VALUES ('kept', '2026-11-01 01:00:00.000000', 'submitted', 'j1', 'w1', '2026-11-01 01:00:00.000000', 'success', '2026-11-01 01:00:09.000000', 1);
INSERT INTO periodic_tick (task_id, due, decision, reason) VALUES ('kept', '2999-11-03 01:00:00.000000', 'skipped', 'asked for');
INSERT INTO periodic_open (task_id, due, sink, ref, jid, submitted, look)
  VALUES ('kept', '2026-11-01 01:00:00.000000', 'river', '17', 'j1', '2026-11-01 01:00:00.000000', '2026-11-01 01:00:01.000000');
INSERT INTO job (jid, task, args, state, tracker) VALUES ('j2', 'backup', '{"to": "a"}', 'waiting', 'kept');
INSERT INTO joblog (id, jid, level, created, message) VALUES ('l1', 'j2', 'info', '2026-11-01 01:00:00.000000', 'begun');
INSERT INTO jobgroupuse (groupid, workerid) VALUES ('default', 'w1');
INSERT INTO job_limit (kind, name, max) VALUES ('handler', 'backup', 2);
INSERT INTO scheduler_lock (name, holder, hostname, pid, token, acquired, heartbeat, expires)
  VALUES ('scheduler', 'w1', 'host', 1, 5, '2026-11-01 01:00:00.000000', '2026-11-01 01:00:00.000000', '2026-11-01 01:00:30.000000');
INSERT INTO worker (id, kind, version, started, seen)
  VALUES ('w1', 'serve', '0.1.0', '2026-11-01 01:00:00.000000', '2026-11-01 01:00:00.000000');
INSERT INTO event_aggregate (id, version) VALUES ('orders', 1);
INSERT INTO event_store (seq, id, topic, type, aggregate_id, aggregate_version) VALUES (1, 'e1', 'shop', 'closed', 'orders', 1);
INSERT INTO outbox_message (id, event_id, topic) VALUES (1, 'e1', 'shop');
