-- What is wrong with a row is written into its column problem, and keeps no other row from running.
INSERT INTO periodic_task (id, task, timer) VALUES ('mistake', 'date', '*-*-* 25:00');
