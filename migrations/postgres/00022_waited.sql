-- nextrun's schedulers lock the row of a task while they work on it, and write no mark. Another
-- program that marks the row, as Docspell does, waits for that lock, and then finds the row without
-- a mark, but of another time: such a mark touches no row, as if somebody else had been sooner.

-- +goose Up
-- STABLE, so that its query has the snapshot of the statement: a version of the row that is not at
-- its place there was committed after the statement began.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_marked() RETURNS trigger LANGUAGE plpgsql STABLE SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  seen boolean;
BEGIN
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s WHERE ctid = $1)', TG_RELID::regclass) INTO seen USING OLD.ctid;
  IF NOT seen THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_marked BEFORE UPDATE OF worker ON periodic_task FOR EACH ROW
  WHEN (OLD.worker IS NULL AND NEW.worker IS NOT NULL) EXECUTE FUNCTION nextrun_task_marked();

-- +goose Down
DROP TRIGGER nextrun_task_marked ON periodic_task;
DROP FUNCTION nextrun_task_marked();
