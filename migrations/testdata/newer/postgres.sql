-- A migration as a newer program may have it: additive, with columns and a trigger that the older one does not know.
-- oldest: 1
-- +goose Up
ALTER TABLE periodic_task
  ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE periodic_tick ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE job ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE worker ADD COLUMN mood text NOT NULL DEFAULT 'fine';
ALTER TABLE periodic_tick DROP CONSTRAINT nextrun_decision;
CREATE FUNCTION nextrun_mood() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.mood := lower(NEW.mood); RETURN NEW; END';
CREATE TRIGGER nextrun_mood BEFORE UPDATE OF mood ON periodic_task FOR EACH ROW EXECUTE FUNCTION nextrun_mood();
-- +goose Down
