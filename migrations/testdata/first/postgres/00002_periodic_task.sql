-- Periodic tasks: the table of Docspell's ADR 0012 with nextrun's own columns,
-- the trigger that lets an edit win over a batch in hand, and the record of
-- what became of every tick.

-- +goose Up
{{if not (found "periodic_task")}}
CREATE TABLE periodic_task (
  id        varchar(254) NOT NULL PRIMARY KEY,
  enabled   boolean      NOT NULL,
  task      varchar(254) NOT NULL,
  group_    varchar(254) NOT NULL,
  args      text         NOT NULL,
  subject   varchar(254) NOT NULL,
  submitter varchar(254) NOT NULL,
  priority  integer      NOT NULL,
  worker    varchar(254),
  marked    timestamp,
  timer     varchar(254) NOT NULL,
  nextrun   timestamp    NOT NULL,
  created   timestamp    NOT NULL,
  summary   varchar(254)
);
{{else if not (found "periodic_task.summary")}}
ALTER TABLE periodic_task ADD COLUMN summary varchar(254);
{{end}}

ALTER TABLE periodic_task
  ADD COLUMN due      timestamp,
  ADD COLUMN starts   timestamp,
  ADD COLUMN ends     timestamp,
  ADD COLUMN overlap  varchar(16) NOT NULL DEFAULT 'skip',
  ADD COLUMN catchup  varchar(16) NOT NULL DEFAULT 'one',
  ADD COLUMN grace    integer     NOT NULL DEFAULT 60,
  ADD COLUMN deadline integer,
  ADD COLUMN jitter   integer     NOT NULL DEFAULT 0,
  ADD COLUMN sink     varchar(16) NOT NULL DEFAULT 'job',
  ADD COLUMN problem  text,
  ADD CONSTRAINT nextrun_overlap  CHECK (overlap IN ('skip', 'queue', 'replace', 'allow')),
  ADD CONSTRAINT nextrun_catchup  CHECK (catchup IN ('one', 'none', 'all')),
  ADD CONSTRAINT nextrun_grace    CHECK (grace >= 0),
  ADD CONSTRAINT nextrun_deadline CHECK (deadline >= 0),
  ADD CONSTRAINT nextrun_jitter   CHECK (jitter >= 0),
  ADD CONSTRAINT nextrun_sink     CHECK (sink IN ('job', 'event')),
  ADD CONSTRAINT nextrun_bounds   CHECK (starts < ends);
{{range withoutDefault "periodic_task"}}
ALTER TABLE periodic_task ALTER COLUMN {{.Name}} SET DEFAULT {{.Default}};
{{end}}

COMMENT ON COLUMN periodic_task.nextrun  IS 'next submission, UTC: due + jitter. 1970-01-01: not planned yet; 9999-12-31 23:59:59: never. Set it to run the task then';
COMMENT ON COLUMN periodic_task.due      IS 'nominal time of the planned tick, UTC; written by the scheduler only';
COMMENT ON COLUMN periodic_task.starts   IS 'no tick is due before it, UTC';
COMMENT ON COLUMN periodic_task.ends     IS 'no tick is due at it or later, UTC';
COMMENT ON COLUMN periodic_task.overlap  IS 'while a job of this task is not final: skip, queue, replace, allow';
COMMENT ON COLUMN periodic_task.catchup  IS 'of ticks that were missed submit: one, none, all';
COMMENT ON COLUMN periodic_task.grace    IS 'seconds; with catchup none a tick older than that is missed';
COMMENT ON COLUMN periodic_task.deadline IS 'seconds after due beyond which a tick is not submitted; NULL: never';
COMMENT ON COLUMN periodic_task.jitter   IS 'seconds; greatest random delay of a tick';
COMMENT ON COLUMN periodic_task.sink     IS 'job: submit a job; event: write an event to the outbox';
COMMENT ON COLUMN periodic_task.problem  IS 'what is wrong with this row; cleared by the next edit';

CREATE INDEX nextrun_task_due ON periodic_task (nextrun) WHERE enabled AND worker IS NULL;
CREATE INDEX nextrun_task_marked ON periodic_task (marked) WHERE worker IS NOT NULL;

CREATE TABLE periodic_tick (
  task_id  varchar(254) NOT NULL,
  due      timestamp    NOT NULL,
  decision varchar(16)  NOT NULL CONSTRAINT nextrun_decision
           CHECK (decision IN ('submitted', 'skipped', 'queued', 'late', 'missed')),
  reason   text,
  missed   integer      NOT NULL DEFAULT 0,
  until    timestamp,
  jid      varchar(254),
  worker   varchar(254),
  decided  timestamp    NOT NULL,
  PRIMARY KEY (task_id, due)
);
COMMENT ON TABLE periodic_tick IS 'what became of each tick that fell due';
CREATE INDEX nextrun_tick_queued ON periodic_tick (task_id, due) WHERE decision = 'queued';
CREATE INDEX nextrun_tick_decided ON periodic_tick USING brin (decided);

-- What is wrong with args, which are JSON by convention only: a warning, or NULL.
-- +goose StatementBegin
CREATE FUNCTION nextrun_args_problem(args text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  detail text;
BEGIN
  IF args <> '{}' THEN
    PERFORM args::json;
  END IF;
  RETURN NULL;
EXCEPTION WHEN data_exception THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN 'warning: args is not JSON: ' || left(detail, 200);
END $$;
-- +goose StatementEnd

-- An edit takes the row out of the hands of a scheduler that marked it, and
-- has it planned anew where the plan may have changed. A scheduler's own
-- updates change `due`, or only columns that are not named here.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.worker := NULL;
  NEW.marked := NULL;
  NEW.problem := nextrun_args_problem(NEW.args);
  IF NEW.nextrun IS DISTINCT FROM OLD.nextrun THEN
    NEW.due := NULL;
  ELSIF NEW.timer IS DISTINCT FROM OLD.timer
     OR NEW.starts IS DISTINCT FROM OLD.starts
     OR NEW.ends IS DISTINCT FROM OLD.ends
     OR (NEW.enabled AND NOT OLD.enabled)
     OR OLD.due >= '9999-12-31 23:59:59' THEN
    NEW.due := NULL;
    NEW.nextrun := '1970-01-01 00:00:00';
  END IF;
  PERFORM pg_notify('nextrun_task', '');
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_edited
  BEFORE UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, created, summary,
                   starts, ends, overlap, catchup, grace, deadline, jitter, sink ON periodic_task
  FOR EACH ROW
  WHEN (NEW.due IS NOT DISTINCT FROM OLD.due AND (
        (NEW.enabled, NEW.nextrun, NEW.timer, NEW.id, NEW.task, NEW.group_, NEW.subject, NEW.submitter, NEW.priority,
         NEW.created, NEW.summary, NEW.starts, NEW.ends, NEW.overlap, NEW.catchup, NEW.grace, NEW.deadline,
         NEW.jitter, NEW.sink)
        IS DISTINCT FROM
        (OLD.enabled, OLD.nextrun, OLD.timer, OLD.id, OLD.task, OLD.group_, OLD.subject, OLD.submitter, OLD.priority,
         OLD.created, OLD.summary, OLD.starts, OLD.ends, OLD.overlap, OLD.catchup, OLD.grace, OLD.deadline,
         OLD.jitter, OLD.sink)
        OR NEW.args IS DISTINCT FROM OLD.args))
  EXECUTE FUNCTION nextrun_task_edited();

-- +goose StatementBegin
CREATE FUNCTION nextrun_task_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.problem := nextrun_args_problem(NEW.args);
  PERFORM pg_notify('nextrun_task', '');
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_added BEFORE INSERT ON periodic_task
  FOR EACH ROW EXECUTE FUNCTION nextrun_task_added();

-- Refuses times that no schedule reaches and that other programs cannot read.
-- A trigger, not a CHECK: rows that were there before are left alone.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_times() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.nextrun NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: nextrun % is out of range; use a UTC time between 1970-01-01 and 9999-12-31', NEW.id, NEW.nextrun
      USING ERRCODE = 'check_violation', COLUMN = 'nextrun', TABLE = 'periodic_task';
  END IF;
  IF NEW.starts NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: starts % is out of range; use a UTC time between 1970-01-01 and 9999-12-31, or NULL', NEW.id, NEW.starts
      USING ERRCODE = 'check_violation', COLUMN = 'starts', TABLE = 'periodic_task';
  END IF;
  IF NEW.ends NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: ends % is out of range; use a UTC time between 1970-01-01 and 9999-12-31, or NULL', NEW.id, NEW.ends
      USING ERRCODE = 'check_violation', COLUMN = 'ends', TABLE = 'periodic_task';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_times_added BEFORE INSERT ON periodic_task
  FOR EACH ROW WHEN (NEW.nextrun <> '1970-01-01' OR NEW.starts IS NOT NULL OR NEW.ends IS NOT NULL)
  EXECUTE FUNCTION nextrun_task_times();
CREATE TRIGGER nextrun_task_times_edited BEFORE UPDATE OF nextrun, starts, ends ON periodic_task
  FOR EACH ROW WHEN (NEW.due IS NOT DISTINCT FROM OLD.due AND (NEW.nextrun, NEW.starts, NEW.ends)
                     IS DISTINCT FROM (OLD.nextrun, OLD.starts, OLD.ends))
  EXECUTE FUNCTION nextrun_task_times();

-- A queued tick waits for the end of its task's job: wake the scheduler then.
-- +goose StatementBegin
CREATE FUNCTION nextrun_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = OLD.tracker AND decision = 'queued') THEN
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_job_ended AFTER UPDATE OF state ON job
  FOR EACH ROW WHEN (OLD.tracker IS NOT NULL
                     AND OLD.state IN ('waiting', 'scheduled', 'running', 'stuck')
                     AND NEW.state NOT IN ('waiting', 'scheduled', 'running', 'stuck'))
  EXECUTE FUNCTION nextrun_job_ended();

-- +goose Down
DROP TRIGGER nextrun_job_ended ON job;
DROP FUNCTION nextrun_job_ended();
DROP TABLE periodic_tick;
DROP TRIGGER nextrun_task_times_edited ON periodic_task;
DROP TRIGGER nextrun_task_times_added ON periodic_task;
DROP FUNCTION nextrun_task_times();
DROP TRIGGER nextrun_task_added ON periodic_task;
DROP FUNCTION nextrun_task_added();
DROP TRIGGER nextrun_task_edited ON periodic_task;
DROP FUNCTION nextrun_task_edited();
DROP FUNCTION nextrun_args_problem(text);
{{if not (found "periodic_task")}}
DROP TABLE periodic_task;
{{else}}
DROP INDEX nextrun_task_due;
DROP INDEX nextrun_task_marked;
ALTER TABLE periodic_task
  DROP COLUMN due,
  DROP COLUMN starts,
  DROP COLUMN ends,
  DROP COLUMN overlap,
  DROP COLUMN catchup,
  DROP COLUMN grace,
  DROP COLUMN deadline,
  DROP COLUMN jitter,
  DROP COLUMN sink,
  DROP COLUMN problem;
{{range withoutDefault "periodic_task"}}
ALTER TABLE periodic_task ALTER COLUMN {{.Name}} DROP DEFAULT;
{{end}}
{{if not (found "periodic_task.summary")}}
ALTER TABLE periodic_task DROP COLUMN summary;
{{end}}
{{end}}
