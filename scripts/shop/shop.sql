-- The database of a shop as it is after a month (SQLite): forty tasks of all kinds, what became of their ticks, an outage,
-- pauses, mistakes, and a queue that the shop had before. `make shop` runs it after `nextrun migrate up`, and a round of the scheduler, which plans the rest.

CREATE TEMP TABLE shop AS SELECT strftime('%Y-%m-%d %H:%M:%S', 'now') AS now, 30 AS days;

-- Each `step` minutes is a tick, the first at the minute `at` of a Monday, in the zone of the timer. NULL: it has none in this month.
-- Its job takes `takes` seconds. The last of each `fails` jobs fails, and of each `skips` ticks the last is skipped, since a job still runs; 0: none.
CREATE TEMP TABLE plan (id text, group_ text, timer text, step integer, at integer, takes integer, fails integer, skips integer);
INSERT INTO plan VALUES
  ('order-export', 'orders', '*:0/30', 30, 0, 240, 97, 0),
  ('order-confirmations', 'orders', 'every 1h', 60, 0, 40, 0, 0),
  ('order-cleanup', 'orders', '*-*-* 03:10 Europe/Berlin', 1440, 190, 540, 0, 0),
  ('order-audit', 'orders', 'Mon 06:00 Europe/Berlin', 10080, 360, 1860, 0, 0),
  ('stock-sync', 'stock', 'hourly', 60, 0, 4500, 0, 2),
  ('stock-replace', 'stock', '*-*-* 0/2:00', 120, 0, 720, 0, 0),
  ('stock-count', 'stock', '*-*-* 22:00', 1440, 1320, 93600, 0, 0),
  ('stock-forecast', 'stock', '0 5 * * *', 1440, 300, 1020, 5, 0),
  ('price-feed', 'prices', '*-*-* 0/2:05', 120, 5, 480, 0, 0),
  ('price-check', 'prices', '*-*-* 07,13,19:30', NULL, 0, 90, 0, 0),
  ('price-import', 'prices', 'every 6h', 360, 0, 180, 1, 0),
  ('invoice-run', 'finance', '*-*-01 04:00 Europe/Berlin', NULL, 0, 3000, 0, 0),
  ('invoice-reminders', 'finance', 'Tue 09:00 Europe/Berlin', 10080, 1980, 120, 3, 0),
  ('payments-settle', 'finance', '*-*-* 23:45', 1440, 1425, 360, 0, 0),
  ('payments-check', 'finance', 'hourly', 60, 0, 20, 1, 0),
  ('tax-report', 'finance', 'quarterly', NULL, 0, 3600, 0, 0),
  ('newsletter', 'mail', 'Tue 10:00 Europe/Berlin', 10080, 2040, 1320, 0, 0),
  ('mail-bounces', 'mail', '*:10', 60, 10, 15, 0, 0),
  ('mail-digest', 'mail', '*-*-* 06:15 Europe/Berlin', 1440, 375, 240, 0, 0),
  ('search-index', 'search', '*-*-* 01:30', 1440, 90, 3300, 0, 0),
  ('search-warm', 'search', '*-*-* 0/3:00', 180, 0, 60, 0, 0),
  ('search-synonyms', 'search', 'weekly', 10080, 0, 300, 1, 0),
  ('backup-database', 'ops', '*-*-* 02:00 Europe/Berlin', 1440, 120, 2520, 0, 0),
  ('backup-files', 'ops', '*-*-* 04:00 Europe/Berlin', 1440, 240, 4800, 11, 0),
  ('backup-verify', 'ops', 'Sun 12:00', 10080, 9360, 7200, 0, 0),
  ('certificates', 'ops', 'daily', 1440, 0, 3, 0, 0),
  ('log-rotate', 'ops', '*-*-* 00:05', 1440, 5, 1, 0, 0),
  ('disk-report', 'ops', 'every 12h', 720, 0, 2, 0, 0),
  ('legacy-feed', 'legacy', '*-*-* 0/4:20', 240, 20, 0, 0, 0),
  ('legacy-sync', 'legacy', 'hourly', NULL, 0, 30, 0, 0),
  ('event-daily', 'reports', '*-*-* 08:00', 1440, 480, 0, 0, 0),
  ('event-hourly', 'reports', 'hourly', 60, 0, 0, 0, 0),
  ('report-weekly', 'reports', 'Fri 16:00 Europe/Berlin', 10080, 6720, 660, 0, 0),
  ('report-once', 'reports', '2020-02-29 12:00', NULL, 0, 60, 0, 0),
  ('season-sale', 'prices', 'daily', NULL, 0, 0, 0, 0),
  ('season-next', 'prices', 'daily', NULL, 0, 0, 0, 0),
  ('feed-partner', 'partners', '*-*-* 11:00', 1440, 660, 300, 2, 0),
  ('feed-typo', 'partners', 'Fry 12:00', NULL, 0, 0, 0, 0);

INSERT INTO periodic_task (id, task, timer, group_, submitter) SELECT id, replace(id, '-', '.'), timer, group_, 'shop' FROM plan;
UPDATE periodic_task SET sink = 'legacy' WHERE id = 'legacy-feed';
UPDATE periodic_task SET sink = 'event' WHERE id LIKE 'event-%';
UPDATE periodic_task SET overlap = 'allow' WHERE id IN ('stock-count', 'search-warm');
UPDATE periodic_task SET overlap = 'replace' WHERE id = 'stock-replace';
UPDATE periodic_task SET overlap = 'queue', catchup = 'all' WHERE id = 'order-export';
UPDATE periodic_task SET retry_limit = 0 WHERE id = 'payments-check';
UPDATE periodic_task SET deadline = 900 WHERE id = 'price-feed';
UPDATE periodic_task SET jitter = 300 WHERE id = 'price-check';
UPDATE periodic_task SET priority = 10 WHERE id IN ('order-audit', 'backup-database');
UPDATE periodic_task SET enabled = false WHERE id = 'legacy-sync';
UPDATE periodic_task SET ends = '2026-01-31 00:00:00' WHERE id = 'season-sale';
UPDATE periodic_task SET starts = '2090-01-01 00:00:00' WHERE id = 'season-next';
INSERT INTO job_limit (kind, name, max) VALUES ('group', 'finance', 5);
CREATE TABLE legacy_job (id varchar(254) PRIMARY KEY, args text, done boolean NOT NULL DEFAULT false);

-- Ticks of the month, and the next ones. In summer the clock of Berlin is two hours ahead of UTC, else one.
CREATE TEMP TABLE tick AS
WITH RECURSIVE
  begin (id, step, minute) AS ( -- minutes since a Monday
    SELECT id, step, (unixepoch(now) - unixepoch('2020-01-06')) / 60 - days * 1440 AS first FROM plan, shop WHERE step > 0),
  local (id, step, minute) AS (
    SELECT b.id, b.step, b.minute + b.step - 1 - (b.minute + b.step - 1 - p.at) % b.step FROM begin AS b JOIN plan AS p ON p.id = b.id
    UNION ALL SELECT id, step, minute + step FROM local, shop WHERE minute < (unixepoch(now) - unixepoch('2020-01-06')) / 60 + 180),
  wall (id, at) AS (SELECT id, datetime('2020-01-06', minute || ' minutes') FROM local)
SELECT w.id, CASE
    WHEN p.timer NOT LIKE '%Berlin' THEN w.at
    WHEN w.at BETWEEN date(substr(w.at, 1, 4) || '-03-25', 'weekday 0') || ' 03' AND date(substr(w.at, 1, 4) || '-10-25', 'weekday 0') || ' 03' THEN datetime(w.at, '-2 hours')
    ELSE datetime(w.at, '-1 hours') END AS due
FROM wall AS w JOIN plan AS p ON p.id = w.id;

UPDATE periodic_task SET created = (SELECT date(now, -days || ' days') || ' 00:00:00' FROM shop);
UPDATE periodic_task SET nextrun = t.due || '.000000', due = t.due || '.000000'
FROM (SELECT id, min(due) AS due FROM tick, shop WHERE due > now GROUP BY id) AS t WHERE t.id = periodic_task.id;
UPDATE periodic_task SET since = created;
DELETE FROM tick WHERE due > (SELECT now FROM shop);

-- What became of each: nobody scheduled for some hours of the tenth day, and people paused tasks.
CREATE TEMP TABLE run AS
SELECT t.id, t.due, row_number() OVER (PARTITION BY t.id ORDER BY t.due) AS n, p.takes, p.fails, CASE
    WHEN t.due BETWEEN datetime(now, '-21 days') AND datetime(now, '-21 days', '270 minutes') THEN 'missed'
    WHEN t.id = 'mail-bounces' AND t.due BETWEEN datetime(now, '-17 days') AND datetime(now, '-13 days') THEN 'paused'
    WHEN t.id = 'feed-partner' AND t.due > datetime(now, '-3 days') THEN 'paused'
    ELSE 'submitted' END AS became
FROM tick AS t JOIN plan AS p ON p.id = t.id, shop;
UPDATE run SET became = 'overlap' FROM plan AS p WHERE p.id = run.id AND p.skips > 0 AND became = 'submitted' AND unixepoch(due) / 60 / p.step % p.skips = p.skips - 1;
UPDATE periodic_task SET paused = datetime(now, '-3 days'), paused_by = 'grace', paused_reason = 'the partner has not paid' FROM shop WHERE id = 'feed-partner';

INSERT INTO periodic_tick (task_id, due, decision, cause, reason, worker, decided)
SELECT id, due || '.000000', 'skipped', became, CASE became WHEN 'paused' THEN 'grace' END, 'shop@000000000001', due || '.010000' FROM run WHERE became IN ('paused', 'overlap');
INSERT INTO periodic_tick (task_id, due, decision, cause, missed, until, worker, decided)
SELECT id, min(due) || '.000000', 'missed', 'newest', count(*), CASE WHEN count(*) > 1 THEN max(due) || '.000000' END, 'shop@000000000001', datetime(now, '-21 days', '271 minutes') || '.000000'
FROM run, shop WHERE became = 'missed' GROUP BY id;
INSERT INTO periodic_tick (task_id, due, decision, jid, worker, decided)
SELECT id, due || '.000000', 'submitted', id || '-' || n, 'shop@000000000001', due || '.005000' FROM run WHERE became = 'submitted';

-- Jobs, each tried three times before it fails. What still runs when the shop closes waits again.
INSERT INTO job (jid, task, group_, submitter, tracker, due, submitted, state, retries, worker, started, finished, result)
SELECT r.id || '-' || r.n, t.task, t.group_, 'shop', r.id, r.due || '.000000', r.due || '.005000', 'success', 0, 'shop@000000000001',
    r.due || '.010000', datetime(r.due, r.takes || ' seconds') || '.010000', 'done: 42 rows'
FROM run AS r JOIN periodic_task AS t ON t.id = r.id WHERE r.became = 'submitted' AND t.sink = 'job';
UPDATE job SET state = 'failed', retries = CASE tracker WHEN 'payments-check' THEN 0 ELSE 2 END, result = 'exit status 3: FATAL: connection to shop-db refused'
FROM run AS r WHERE r.id || '-' || r.n = jid AND r.fails > 0 AND r.n % r.fails = 0;
UPDATE job SET state = 'waiting', retries = 0, interrupts = 1, worker = NULL, started = NULL, finished = NULL, result = NULL FROM shop WHERE finished > now;
UPDATE job SET state = 'cancelled', result = NULL WHERE tracker = 'stock-count' AND jid LIKE '%-20';
INSERT INTO joblog (id, jid, level, created, message, counter)
SELECT jid || '-1', jid, CASE state WHEN 'failed' THEN 'error' ELSE 'info' END, finished, CASE state WHEN 'failed' THEN 'FATAL: connection to shop-db refused' ELSE '42 rows' END, 1
FROM job WHERE finished IS NOT NULL;

-- Events, and jobs of the other queue.
INSERT INTO event_aggregate (id, version) SELECT id, count(*) FROM run WHERE id LIKE 'event-%' AND became = 'submitted' GROUP BY id;
INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload, created)
SELECT r.id || '-' || r.n, t.group_, t.task, r.id, row_number() OVER (PARTITION BY r.id ORDER BY r.due), '{}', r.due || '.005000'
FROM run AS r JOIN periodic_task AS t ON t.id = r.id WHERE r.became = 'submitted' AND t.sink = 'event' ORDER BY r.due;
INSERT INTO outbox_message (event_id, topic, created, published) SELECT id, topic, created, created FROM event_store ORDER BY created;
UPDATE periodic_tick SET outcome = 'success', finished = decided WHERE task_id = 'legacy-feed' AND decision = 'submitted';
INSERT INTO legacy_job SELECT id || '-' || n, '{}', true FROM run WHERE id = 'legacy-feed' AND became = 'submitted';
