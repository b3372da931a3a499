-- Mends 00001 to 00005, which never change any more.

-- +goose Up
-- Of processes that migrate at the same time one applies each migration; the
-- others fail, and go on with the next.
CREATE UNIQUE INDEX nextrun_migration_once ON nextrun_migration (version_id) WHERE version_id > 5;

-- Databases made by an early state of 00002 lack this table.
CREATE TABLE IF NOT EXISTS periodic_ready (
  seq     integer PRIMARY KEY,
  task_id varchar(254) NOT NULL UNIQUE
);

{{if firstTime}}
-- After `migrate down` and `up` a task that had stopped, such as one with an
-- unreadable timer, looks like one that was set to the year 9999 by hand.
UPDATE periodic_task SET nextrun = '1970-01-01 00:00:00.000000' WHERE due IS NULL AND nextrun >= '9999-12-31 23:59:59';
{{end}}

{{if not (found "scheduler_lock")}}
-- The row of a lock holds its token, which must only rise. So deleting the row
-- releases the lock and keeps the row.
-- +goose StatementBegin
CREATE TRIGGER nextrun_lock_kept BEFORE DELETE ON scheduler_lock
BEGIN
  UPDATE scheduler_lock SET expires = '1970-01-01 00:00:00.000000' WHERE name = OLD.name;
  SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd
{{end}}

-- +goose Down
DROP INDEX nextrun_migration_once;
{{if not (found "scheduler_lock")}}
DROP TRIGGER nextrun_lock_kept;
{{end}}
