-- A migration as a newer program may have it: additive, with columns and a trigger that the older one does not know.
-- oldest: 1
-- +goose Up
ALTER TABLE periodic_task ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE periodic_tick ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE job ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE worker ADD COLUMN mood text NOT NULL DEFAULT 'fine';
DROP TRIGGER nextrun_task_refuse_added;
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_added BEFORE INSERT ON periodic_task WHEN NEW.mood = '' BEGIN
  SELECT RAISE(ABORT, 'periodic_task: mood must not be empty');
END;
-- +goose StatementEnd
-- +goose Down
