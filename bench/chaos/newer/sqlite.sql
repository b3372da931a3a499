-- The same as in postgres.sql.
-- oldest: 1
-- +goose Up
ALTER TABLE periodic_task ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE periodic_tick ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE job ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE worker ADD COLUMN mood text NOT NULL DEFAULT 'fine';
DROP TRIGGER nextrun_task_deleted;
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_deleted AFTER DELETE ON periodic_task WHEN OLD.mood IS NOT NULL
BEGIN
  DELETE FROM periodic_tick WHERE task_id = OLD.id AND decided IS NULL;
END;
-- +goose StatementEnd
-- +goose Down
