-- The tasks of the demo: plain rows, for SQLite and PostgreSQL alike. What runs
-- under the name in the column task is in testdata/nextrun.yaml.

-- The smallest row that works: id, task, timer. Every five seconds.
INSERT INTO periodic_task (id, task, timer) VALUES ('clock', 'date', '*:*:0/5');

-- Every ten minutes. Ticks that nobody has submitted after a minute are not made up for: they are
-- missed.
INSERT INTO periodic_task (id, task, timer, catchup) VALUES ('punctual', 'date', '*:0/10', 'none');

-- An interval. The args go to the command, which prints them.
INSERT INTO periodic_task (id, task, timer, args) VALUES
  ('greeting', 'cat', 'every 7s', '{"to": "Ada", "text": "Good morning"}');

-- A cron expression with six fields, the first for seconds; in a group of its own.
INSERT INTO periodic_task (id, task, timer, group_, subject) VALUES
  ('disk-space', 'df', '*/15 * * * * *', 'system', 'How full are the disks?');

-- Takes longer than its interval: while a job of it runs, its ticks are skipped.
INSERT INTO periodic_task (id, task, timer, summary) VALUES
  ('slow', 'sleep', '*:*:0/4', 'sleeps for ten seconds, every four');

-- Takes ten of the fifteen seconds between its ticks. If a job took longer, the next tick would wait
-- for its end.
INSERT INTO periodic_task (id, task, timer, overlap) VALUES
  ('patient', 'sleep', '*:*:0/15', 'queue');

-- Fails each time, and is tried once more before it is given up.
INSERT INTO periodic_task (id, task, timer) VALUES ('broken', 'missing-file', '*:*:0/10');
