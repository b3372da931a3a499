-- One occurrence: what people decide about one tick of a task.

-- +goose Up
CREATE TABLE periodic_override (
  task_id  varchar(254) NOT NULL,
  due      timestamp    NOT NULL,
  moved_to timestamp,
  reason   varchar(254),
  who      varchar(254),
  created  timestamp    NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
  PRIMARY KEY (task_id, due),
  CONSTRAINT nextrun_override_times CHECK (due BETWEEN '1970-01-01' AND '9999-12-31' AND moved_to BETWEEN '1970-01-01' AND '9999-12-31'),
  CONSTRAINT nextrun_override_moves CHECK (moved_to <> due)
);
COMMENT ON TABLE  periodic_override          IS 'single ticks that people skip or move';
COMMENT ON COLUMN periodic_override.due      IS 'the tick, UTC; if no tick of the task is due then, the row has no effect';
COMMENT ON COLUMN periodic_override.moved_to IS 'when it takes place instead, UTC; NULL: not at all';
COMMENT ON COLUMN periodic_override.reason   IS 'why; it is recorded with the tick';
COMMENT ON COLUMN periodic_override.who      IS 'who decided that; it is recorded with the tick';
COMMENT ON COLUMN periodic_override.created  IS 'when the row was written, UTC; set by a trigger';

-- The lock on the task keeps schedulers from a tick that somebody is about to change.
-- +goose StatementBegin
CREATE FUNCTION nextrun_override_checks() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  planned timestamp;
BEGIN
  SELECT due INTO planned FROM {{schema}}.periodic_task WHERE id = NEW.task_id FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'periodic_override: there is no task %; use the id of a row of periodic_task', NEW.task_id
      USING ERRCODE = 'foreign_key_violation', COLUMN = 'task_id', TABLE = 'periodic_override';
  END IF;
  NEW.created := clock_timestamp() AT TIME ZONE 'UTC';
  IF NEW.due <= NEW.created AND NEW.due IS DISTINCT FROM planned
     AND (TG_OP = 'INSERT' OR NEW.due <> OLD.due OR (OLD.moved_to > NEW.created OR OLD.moved_to = planned) IS NOT TRUE) THEN
    RAISE EXCEPTION 'periodic_override: the tick of % of the task % is in the past, or decided already; name one to come', NEW.due, NEW.task_id
      USING ERRCODE = 'check_violation', COLUMN = 'due', TABLE = 'periodic_override';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_override_added BEFORE INSERT ON periodic_override
  FOR EACH ROW EXECUTE FUNCTION nextrun_override_checks();
CREATE TRIGGER nextrun_override_edited BEFORE UPDATE OF task_id, due, moved_to ON periodic_override
  FOR EACH ROW WHEN ((NEW.task_id, NEW.due, NEW.moved_to) IS DISTINCT FROM (OLD.task_id, OLD.due, OLD.moved_to))
  EXECUTE FUNCTION nextrun_override_checks();

-- A write of the row of the task makes what is prepared void. A move may give another plan; a tick
-- that is due already is decided as it was planned.
-- +goose StatementBegin
CREATE FUNCTION nextrun_override_replans() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  now timestamp := clock_timestamp() AT TIME ZONE 'UTC';
BEGIN
  UPDATE {{schema}}.periodic_task AS t
     SET nextrun = CASE WHEN coalesce(OLD.moved_to, NEW.moved_to) IS NOT NULL AND (t.due > now OR t.due = OLD.moved_to)
                        THEN '1970-01-01 00:00:00' ELSE t.nextrun END,
         changed = now
   WHERE t.id IN (OLD.task_id, NEW.task_id)
     AND (greatest(OLD.due, OLD.moved_to, NEW.due, NEW.moved_to) > now
       OR t.due IN (OLD.due, OLD.moved_to, NEW.due, NEW.moved_to));
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_override_replans AFTER INSERT OR UPDATE OR DELETE ON periodic_override
  FOR EACH ROW EXECUTE FUNCTION nextrun_override_replans();

-- Triggers, since a foreign key would refuse TRUNCATE of a table that others may have made.
-- +goose StatementBegin
CREATE FUNCTION nextrun_override_orphans() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    DELETE FROM {{schema}}.periodic_override;
  ELSE
    DELETE FROM {{schema}}.periodic_override WHERE task_id = OLD.id;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_override_orphans AFTER DELETE ON periodic_task
  FOR EACH ROW EXECUTE FUNCTION nextrun_override_orphans();
CREATE TRIGGER nextrun_override_truncated AFTER TRUNCATE ON periodic_task
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_override_orphans();
REVOKE EXECUTE ON FUNCTION nextrun_override_checks(), nextrun_override_replans(), nextrun_override_orphans() FROM PUBLIC;

-- +goose Down
DROP TRIGGER IF EXISTS nextrun_override_orphans ON periodic_task;
DROP TRIGGER IF EXISTS nextrun_override_truncated ON periodic_task;
DROP TABLE IF EXISTS periodic_override;
DROP FUNCTION IF EXISTS nextrun_override_orphans();
DROP FUNCTION IF EXISTS nextrun_override_replans();
DROP FUNCTION IF EXISTS nextrun_override_checks();
