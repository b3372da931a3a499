-- SQLite only: as if no scheduler had run since the full hour before the last one.
UPDATE periodic_task SET due = strftime('%Y-%m-%d %H:00:00.000000', 'now', '-1 hour'),
                         nextrun = strftime('%Y-%m-%d %H:00:00.000000', 'now', '-1 hour') WHERE id = 'punctual';
