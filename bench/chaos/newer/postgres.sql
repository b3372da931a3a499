-- The migration of a newer program that older ones bear: columns with a default, and a trigger whose function is replaced.
-- oldest: 1
-- +goose Up
ALTER TABLE periodic_task ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE periodic_tick ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE job ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE worker ADD COLUMN mood text NOT NULL DEFAULT 'fine';
-- +goose StatementBegin
DO $$ BEGIN
  EXECUTE regexp_replace(pg_get_functiondef('nextrun_task_edited'::regproc), '\mBEGIN\M', E'BEGIN\n  NEW.mood := lower(NEW.mood);');
END $$;
-- +goose StatementEnd
-- +goose Down
