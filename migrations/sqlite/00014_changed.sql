-- When the plan of a task was last changed by somebody: what it decided before followed
-- another plan. Who checks the recorded ticks against the timer begins there.

-- +goose Up
ALTER TABLE periodic_task ADD COLUMN changed timestamp;
-- The plans of tasks that are there may have been changed a moment ago.
UPDATE periodic_task SET changed = strftime('%Y-%m-%d %H:%M:%f000', 'now');

-- A scheduler's own updates change due.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_changed AFTER UPDATE OF timer, starts, ends, enabled, nextrun, created, sink ON periodic_task
  WHEN NEW.due IS OLD.due AND (NEW.timer IS NOT OLD.timer OR NEW.starts IS NOT OLD.starts OR NEW.ends IS NOT OLD.ends
    OR NEW.enabled IS NOT OLD.enabled OR NEW.nextrun IS NOT OLD.nextrun OR NEW.created IS NOT OLD.created OR NEW.sink IS NOT OLD.sink)
BEGIN
  UPDATE periodic_task SET changed = strftime('%Y-%m-%d %H:%M:%f000', 'now') WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER nextrun_task_changed;
ALTER TABLE periodic_task DROP COLUMN changed;
