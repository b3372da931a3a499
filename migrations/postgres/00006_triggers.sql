-- Mends the triggers of 00001 to 00005, which never change any more.
--
-- Every trigger function finds nextrun's tables whatever search_path the writer
-- has: pg_dump and postgres_fdw empty it, and many applications leave it at
-- "public". Functions that write to tables of the scheduler run with the rights
-- of their owner, so that a role may edit tasks or end jobs without any right on
-- those tables. Nobody else may attach such a function to a table.

-- +goose Up
-- Databases made by an early state of 00002 lack this table.
CREATE TABLE IF NOT EXISTS periodic_ready (
  seq     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id varchar(254) NOT NULL
);
COMMENT ON TABLE periodic_ready IS 'tasks whose queued ticks are to be looked at';

-- A statement that queues ticks adds one row for each task, not for each tick. It
-- does not look whether a job is pending, or whether the task has a row already:
-- the job may end, and a scheduler may delete that row, before this transaction
-- commits, and then nobody would look at the tick. A unique constraint would make
-- writers wait for each other.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextrun_tick_queues() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  -- The IF keeps a lock on periodic_ready from holding up ticks that do not queue.
  IF EXISTS (SELECT 1 FROM added WHERE decision = 'queued') THEN
    INSERT INTO periodic_ready (task_id) SELECT DISTINCT task_id FROM added WHERE decision = 'queued';
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
DROP TRIGGER IF EXISTS nextrun_tick_queues ON periodic_tick;
CREATE TRIGGER nextrun_tick_queues AFTER INSERT ON periodic_tick
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nextrun_tick_queues();
CREATE TRIGGER nextrun_tick_requeues AFTER UPDATE ON periodic_tick
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nextrun_tick_queues();

-- A queued tick waits for the end of its task's job. The tick may be queued
-- between this statement and its commit, so the policy counts as well.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextrun_job_ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM periodic_task WHERE id = OLD.tracker AND overlap IN ('queue', 'replace'))
     OR EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = OLD.tracker AND decision = 'queued') THEN
    INSERT INTO periodic_ready (task_id) VALUES (OLD.tracker);
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextrun_jobs_gone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO periodic_ready (task_id) SELECT DISTINCT task_id FROM periodic_tick WHERE decision = 'queued';
  PERFORM pg_notify('nextrun_task', '');
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- Queued ticks of a task that is gone are skipped. Only the ticks of the tasks
-- that the statement removed are read.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextrun_task_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  gone CONSTANT text := 'the task was deleted while the tick waited';
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE periodic_tick AS k SET decision = 'skipped', reason = gone, decided = clock_timestamp() AT TIME ZONE 'UTC'
      FROM removed
     WHERE k.task_id = removed.id AND k.decision = 'queued'
       AND NOT EXISTS (SELECT 1 FROM periodic_task AS t WHERE t.id = removed.id);
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE periodic_tick AS k SET decision = 'skipped', reason = gone, decided = clock_timestamp() AT TIME ZONE 'UTC'
     WHERE k.task_id = OLD.id AND k.decision = 'queued'
       AND NOT EXISTS (SELECT 1 FROM periodic_task AS t WHERE t.id = OLD.id);
  ELSE
    UPDATE periodic_tick AS k SET decision = 'skipped', reason = gone, decided = clock_timestamp() AT TIME ZONE 'UTC'
     WHERE k.decision = 'queued';
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
DROP TRIGGER IF EXISTS nextrun_task_deleted ON periodic_task;
CREATE TRIGGER nextrun_task_deleted AFTER DELETE ON periodic_task
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION nextrun_task_removed();
CREATE TRIGGER nextrun_task_truncated AFTER TRUNCATE ON periodic_task
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_task_removed();
DROP TRIGGER IF EXISTS nextrun_task_renamed ON periodic_task;
CREATE TRIGGER nextrun_task_renamed AFTER UPDATE OF id ON periodic_task
  FOR EACH ROW WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION nextrun_task_removed();

-- Times out of range are refused in every update, also in one that sets due.
DROP TRIGGER IF EXISTS nextrun_task_bounds_edited ON periodic_task;
CREATE TRIGGER nextrun_task_bounds_edited BEFORE UPDATE OF nextrun, starts, ends ON periodic_task
  FOR EACH ROW WHEN (
    (NEW.nextrun IS DISTINCT FROM OLD.nextrun AND NEW.nextrun NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999')
    OR (NEW.starts IS DISTINCT FROM OLD.starts AND NEW.starts NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999')
    OR (NEW.ends IS DISTINCT FROM OLD.ends AND NEW.ends NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999'))
  EXECUTE FUNCTION nextrun_task_times();

-- NOT VALID first: it keeps such rows from being added while the others are
-- repaired.
ALTER TABLE periodic_task ADD CONSTRAINT nextrun_due
  CHECK (due BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999') NOT VALID;
UPDATE periodic_task SET due = NULL, nextrun = '1970-01-01', worker = NULL, marked = NULL
 WHERE NOT (due BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999');

{{if firstTime}}
-- After `migrate down` and `up` a task that had stopped, such as one with an
-- unreadable timer, looks like one that was set to the year 9999 by hand.
UPDATE periodic_task SET nextrun = '1970-01-01' WHERE due IS NULL AND nextrun >= '9999-12-31 23:59:59';
{{end}}

{{if not (found "scheduler_lock")}}
-- The row of a lock holds its token, which must only rise. So deleting the row
-- releases the lock and keeps the row.
-- +goose StatementBegin
CREATE FUNCTION nextrun_lock_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    RAISE EXCEPTION 'scheduler_lock keeps the tokens of the locks, which must only rise; to release a lock use: nextrun lock release'
      USING ERRCODE = 'restrict_violation', TABLE = 'scheduler_lock';
  END IF;
  UPDATE scheduler_lock SET expires = '1970-01-01' WHERE name = OLD.name AND expires > '1970-01-01';
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_lock_kept BEFORE DELETE ON scheduler_lock
  FOR EACH ROW EXECUTE FUNCTION nextrun_lock_kept();
CREATE TRIGGER nextrun_lock_truncated BEFORE TRUNCATE ON scheduler_lock
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_lock_kept();
COMMENT ON TABLE scheduler_lock IS 'one row for each lock, kept for ever: DELETE releases the lock';
{{end}}

REVOKE EXECUTE ON FUNCTION nextrun_tick_queues(), nextrun_job_ended(), nextrun_jobs_gone(), nextrun_task_removed() FROM PUBLIC;
-- Whoever edits tasks runs this one, also where functions are not public by default.
GRANT EXECUTE ON FUNCTION nextrun_args_problem(text) TO PUBLIC;

-- +goose StatementBegin
DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
            AND proname LIKE 'nextrun\_%' AND prorettype = 'trigger'::regtype LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', f, current_schema());
  END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
-- Only what the files before this one do not remove themselves.
{{if not (found "scheduler_lock")}}
DROP TRIGGER nextrun_lock_truncated ON scheduler_lock;
DROP TRIGGER nextrun_lock_kept ON scheduler_lock;
DROP FUNCTION nextrun_lock_kept();
{{end}}
DROP TRIGGER nextrun_task_truncated ON periodic_task;
COMMENT ON COLUMN periodic_task.nextrun IS NULL;
