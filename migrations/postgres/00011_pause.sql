-- Tasks can be paused: their timers go on, and what falls due is skipped. The
-- definition of a task, its plan and its queued ticks stay as they are.

-- +goose Up
ALTER TABLE periodic_task
  ADD COLUMN paused        timestamp,
  ADD COLUMN paused_until  timestamp,
  ADD COLUMN paused_by     varchar(254),
  ADD COLUMN paused_reason varchar(254);
COMMENT ON COLUMN periodic_task.paused        IS 'since when the task is paused, UTC: what falls due is skipped; NULL: it is not paused';
COMMENT ON COLUMN periodic_task.paused_until  IS 'when the pause ends by itself, UTC; NULL: when somebody ends it';
COMMENT ON COLUMN periodic_task.paused_by     IS 'who paused it, for people';
COMMENT ON COLUMN periodic_task.paused_reason IS 'why it is paused, for people';
-- When pauses end by themselves.
CREATE INDEX nextrun_task_paused_until ON periodic_task (paused_until) WHERE paused IS NOT NULL;

-- A scheduler that marked the row decided without the pause, so it loses the row. The
-- plan stays. Queued ticks may go when a pause ends.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_paused() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF NEW.paused_until NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: paused_until % is out of range; use a UTC time between 1970-01-01 and 9999-12-31, or NULL', NEW.id, NEW.paused_until
      USING ERRCODE = 'check_violation', COLUMN = 'paused_until', TABLE = 'periodic_task';
  END IF;
  IF TG_OP = 'UPDATE' THEN
    NEW.worker := NULL;
    NEW.marked := NULL;
    IF EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = NEW.id AND decision = 'queued') THEN
      INSERT INTO periodic_ready (task_id) VALUES (NEW.id);
    END IF;
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_paused BEFORE UPDATE OF paused, paused_until ON periodic_task
  FOR EACH ROW WHEN ((NEW.paused, NEW.paused_until) IS DISTINCT FROM (OLD.paused, OLD.paused_until))
  EXECUTE FUNCTION nextrun_task_paused();
CREATE TRIGGER nextrun_task_paused_added BEFORE INSERT ON periodic_task
  FOR EACH ROW WHEN (NEW.paused_until IS NOT NULL) EXECUTE FUNCTION nextrun_task_paused();
REVOKE EXECUTE ON FUNCTION nextrun_task_paused() FROM PUBLIC;

-- +goose StatementBegin
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION nextrun_task_paused() SET search_path = %I, pg_temp', current_schema());
END $$;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER nextrun_task_paused_added ON periodic_task;
DROP TRIGGER nextrun_task_paused ON periodic_task;
DROP FUNCTION nextrun_task_paused();
DROP INDEX nextrun_task_paused_until;
ALTER TABLE periodic_task
  DROP COLUMN paused,
  DROP COLUMN paused_until,
  DROP COLUMN paused_by,
  DROP COLUMN paused_reason;
