-- Tasks that are paused after failures: pause_after, probe_delay, failures, and what the end of a job
-- turned.

-- +goose Up
ALTER TABLE periodic_task
  ADD COLUMN pause_after integer,
  ADD COLUMN probe_delay integer,
  ADD COLUMN failures    integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT nextrun_pause_after CHECK (pause_after BETWEEN 1 AND 1000000),
  ADD CONSTRAINT nextrun_probe_delay CHECK (probe_delay BETWEEN 1 AND 31536000),
  ADD CONSTRAINT nextrun_failures    CHECK (failures >= 0);
COMMENT ON COLUMN periodic_task.pause_after IS 'the task is paused when so many of its jobs have failed in a row; NULL: never';
COMMENT ON COLUMN periodic_task.probe_delay IS 'seconds after which such a pause lets one tick through; each failure doubles them, up to a day; NULL: somebody resumes the task';
COMMENT ON COLUMN periodic_task.failures    IS 'so many jobs of ticks have failed since the last success; written when a job ends';

ALTER TABLE periodic_tick ADD COLUMN turned varchar(16);
-- NOT VALID: no row of before has a value, so none needs to be read.
ALTER TABLE periodic_tick ADD CONSTRAINT nextrun_turned
  CHECK (turned IN ('failing', 'failing, paused', 'paused', 'recovered')) NOT VALID;
COMMENT ON COLUMN periodic_tick.turned IS 'what the end of its job did to the task: failing (the first failure), paused, recovered (the first success after failures); NULL: nothing';

-- What the end of a tick's job does to its task, in the transaction that records the end. The task is
-- locked only if a job fails or has failed before. paused_by is 'nextrun' of these pauses alone:
-- what somebody else paused stays paused. A worker tells when the job ended, another queue nothing that
-- can be relied on.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_outcome(of_task text, of_due timestamp, failed boolean, said text, ended timestamp) RETURNS void
LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  t    record;
  here timestamp;
  turn text;
  own  boolean;
BEGIN
  SELECT failures, pause_after, paused, paused_until, paused_by INTO t
    FROM {{schema}}.periodic_task WHERE id = of_task FOR NO KEY UPDATE;
  IF NOT FOUND OR (NOT failed AND t.failures = 0) THEN
    RETURN;
  END IF;
  here := CASE WHEN ended BETWEEN '1970-01-01' AND '9000-01-01' THEN ended ELSE clock_timestamp() AT TIME ZONE 'UTC' END;
  own := t.paused IS NOT NULL AND t.paused_by IS NOT DISTINCT FROM 'nextrun';
  IF NOT failed THEN
    turn := 'recovered';
    UPDATE {{schema}}.periodic_task SET failures = 0, paused = CASE WHEN own THEN NULL ELSE paused END WHERE id = of_task;
  ELSE
    turn := CASE WHEN t.failures = 0 THEN 'failing' END;
    UPDATE {{schema}}.periodic_task SET failures = least(failures, 2147483646) + 1 WHERE id = of_task;
    IF t.failures + 1 >= t.pause_after AND (own OR t.paused IS NULL OR t.paused_until <= here) THEN
      IF NOT own THEN
        turn := concat_ws(', ', turn, 'paused');
      END IF;
      UPDATE {{schema}}.periodic_task
         SET paused        = CASE WHEN own THEN paused ELSE here END,
             paused_until  = CASE WHEN probe_delay IS NOT NULL THEN here + make_interval(secs => least(probe_delay * power(2::double precision, least(failures - pause_after, 30)), greatest(86400, probe_delay))) END,
             paused_by     = 'nextrun',
             paused_reason = left(format('paused after %s %s in a row; the last: %s', failures,
               CASE failures WHEN 1 THEN 'failure' ELSE 'failures' END, coalesce(nullif(translate(said, E'\n\r\t', '   '), ''), 'it did not say why')), 254)
       WHERE id = of_task;
    END IF;
  END IF;
  IF turn IS NOT NULL THEN
    UPDATE {{schema}}.periodic_tick SET turned = turn WHERE task_id = of_task AND due = of_due;
  END IF;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION nextrun_task_outcome(text, timestamp, boolean, text, timestamp) FROM PUBLIC;

-- A queued tick waits for the end of its task's job. The tick may be queued between this statement
-- and its commit, so the policy counts as well. A success without failures before it writes nothing.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextrun_job_ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  queues boolean;
  before integer;
BEGIN
  SELECT overlap IN ('queue', 'replace'), failures INTO queues, before FROM {{schema}}.periodic_task WHERE id = OLD.tracker;
  IF queues OR EXISTS (SELECT 1 FROM {{schema}}.periodic_tick WHERE task_id = OLD.tracker AND decision = 'queued') THEN
    INSERT INTO {{schema}}.periodic_ready (task_id) VALUES (OLD.tracker);
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  IF TG_OP = 'UPDATE' THEN
    IF NEW.due IS NOT NULL AND NEW.tracker = OLD.tracker AND (NEW.state = 'failed' OR NEW.state = 'success' AND before > 0) THEN
      PERFORM {{schema}}.nextrun_task_outcome(NEW.tracker, NEW.due, NEW.state = 'failed', NEW.result, NEW.finished);
    END IF;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- The same for a job of another queue. One in the table job has been counted when it ended.
-- +goose StatementBegin
CREATE FUNCTION nextrun_tick_ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM {{schema}}.periodic_task WHERE id = NEW.task_id AND sink <> 'job') THEN
    PERFORM {{schema}}.nextrun_task_outcome(NEW.task_id, NEW.due, NEW.outcome = 'failed', NEW.error, NULL);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION nextrun_tick_ended() FROM PUBLIC;
CREATE TRIGGER nextrun_tick_ended AFTER UPDATE OF outcome ON periodic_tick
  FOR EACH ROW WHEN (OLD.outcome IS NULL AND NEW.outcome IN ('success', 'gone', 'failed'))
  EXECUTE FUNCTION nextrun_tick_ended();

-- Who pauses a task again that was paused after failures means another pause, which no success ends.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_repaused() RETURNS trigger LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  NEW.paused_by := NULL;
  IF NEW.paused_reason = OLD.paused_reason THEN
    NEW.paused_reason := NULL;
  END IF;
  IF NEW.paused_until = OLD.paused_until THEN
    NEW.paused_until := NULL;
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_repaused BEFORE UPDATE OF paused ON periodic_task
  FOR EACH ROW WHEN (NEW.paused <> OLD.paused AND OLD.paused_by = 'nextrun' AND NEW.paused_by = 'nextrun')
  EXECUTE FUNCTION nextrun_task_repaused();

-- +goose Down
DROP TRIGGER IF EXISTS nextrun_task_repaused ON periodic_task;
DROP FUNCTION IF EXISTS nextrun_task_repaused();
DROP TRIGGER IF EXISTS nextrun_tick_ended ON periodic_tick;
DROP FUNCTION IF EXISTS nextrun_tick_ended();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextrun_job_ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM {{schema}}.periodic_task WHERE id = OLD.tracker AND overlap IN ('queue', 'replace'))
     OR EXISTS (SELECT 1 FROM {{schema}}.periodic_tick WHERE task_id = OLD.tracker AND decision = 'queued') THEN
    INSERT INTO {{schema}}.periodic_ready (task_id) VALUES (OLD.tracker);
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
DROP FUNCTION IF EXISTS nextrun_task_outcome(text, timestamp, boolean, text, timestamp);
ALTER TABLE periodic_tick DROP COLUMN IF EXISTS turned;
ALTER TABLE periodic_task
  DROP COLUMN IF EXISTS pause_after,
  DROP COLUMN IF EXISTS probe_delay,
  DROP COLUMN IF EXISTS failures;
