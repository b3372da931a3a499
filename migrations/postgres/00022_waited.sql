-- nextrun's schedulers lock the row of a task while they work on it, and write no mark. Another
-- program that marks the row, as Docspell does, waits for that lock, and then finds the row without
-- a mark, but of another time: such a mark touches no row, as if somebody else had been sooner.

-- +goose Up
-- STABLE, so that the snapshot is that of the statement: what it does not see was committed after it began.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_marked() RETURNS trigger LANGUAGE plpgsql STABLE SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  seen CONSTANT pg_snapshot := pg_current_snapshot();
  top  CONSTANT bigint := pg_snapshot_xmax(seen)::text::bigint;
  made bigint := (top & ~4294967295) + OLD.xmin::text::bigint; -- xmin is without the epoch
BEGIN
  IF made > top + 2147483648 THEN
    made := made - 4294967296;
  ELSIF made < top - 2147483648 THEN
    made := made + 4294967296;
  END IF;
  IF made > 2 AND made <> pg_current_xact_id()::text::bigint AND NOT pg_visible_in_snapshot(made::text::xid8, seen) THEN
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
