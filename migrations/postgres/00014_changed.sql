-- When the plan of a task was last changed by somebody: what it decided before followed
-- another plan. Who checks the recorded ticks against the timer begins there.

-- +goose Up
ALTER TABLE periodic_task ADD COLUMN changed timestamp;
COMMENT ON COLUMN periodic_task.changed IS 'when somebody last changed the timer, its bounds, enabled, nextrun or sink, UTC; NULL: never';
-- The plans of tasks that are there may have been changed a moment ago.
UPDATE periodic_task SET changed = clock_timestamp() AT TIME ZONE 'UTC';

-- +goose StatementBegin
CREATE FUNCTION nextrun_task_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed := clock_timestamp() AT TIME ZONE 'UTC';
  RETURN NEW;
END $$;
-- +goose StatementEnd
-- Triggers run in the order of their names: this one before nextrun_task_edited, which
-- changes due. A scheduler's own updates change due.
CREATE TRIGGER nextrun_task_changed BEFORE UPDATE OF timer, starts, ends, enabled, nextrun, created, sink ON periodic_task
  FOR EACH ROW WHEN (NEW.due IS NOT DISTINCT FROM OLD.due AND
    (NEW.timer, NEW.starts, NEW.ends, NEW.enabled, NEW.nextrun, NEW.created, NEW.sink) IS DISTINCT FROM
    (OLD.timer, OLD.starts, OLD.ends, OLD.enabled, OLD.nextrun, OLD.created, OLD.sink))
  EXECUTE FUNCTION nextrun_task_changed();

-- +goose StatementBegin
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION nextrun_task_changed() SET search_path = %I, pg_temp', current_schema());
END $$;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER nextrun_task_changed ON periodic_task;
DROP FUNCTION nextrun_task_changed();
ALTER TABLE periodic_task DROP COLUMN changed;
