-- The queue: job, joblog and jobgroupuse as Docspell has them, and nextrun's
-- own columns. `found` is true for what was there before nextrun came; such
-- things are never dropped (see the package comment of migrations).

-- +goose Up
CREATE TABLE nextrun_found (name varchar(254) NOT NULL PRIMARY KEY);
COMMENT ON TABLE nextrun_found IS 'what existed before nextrun; migrate down leaves it alone';
{{range foundNames}}
INSERT INTO nextrun_found (name) VALUES ('{{.}}');
{{end}}

{{if not (found "job")}}
CREATE TABLE job (
  jid           varchar(254) NOT NULL PRIMARY KEY,
  task          varchar(254) NOT NULL,
  group_        varchar(254) NOT NULL,
  args          text         NOT NULL,
  subject       varchar(254) NOT NULL,
  submitted     timestamp    NOT NULL,
  submitter     varchar(254) NOT NULL,
  priority      integer      NOT NULL,
  state         varchar(254) NOT NULL,
  retries       integer      NOT NULL,
  progress      integer      NOT NULL,
  tracker       varchar(254),
  worker        varchar(254),
  started       timestamp,
  startedmillis bigint,
  finished      timestamp
);
{{end}}

ALTER TABLE job
  ADD COLUMN due       timestamp,
  ADD COLUMN heartbeat timestamp,
  ADD COLUMN single    boolean NOT NULL DEFAULT false,
  ADD COLUMN cancel    timestamp,
  ADD COLUMN retry     timestamp,
  ADD COLUMN result    text,
  ADD COLUMN interrupts integer NOT NULL DEFAULT 0;
{{range withoutDefault "job"}}
ALTER TABLE job ALTER COLUMN {{.Name}} SET DEFAULT {{.Default}};
{{end}}

COMMENT ON COLUMN job.due       IS 'the tick of the periodic task (tracker) that this job is for, UTC';
COMMENT ON COLUMN job.heartbeat IS 'last sign of life of the worker, UTC; NULL: another kind of executor has it';
COMMENT ON COLUMN job.single    IS 'at most one such job per tracker is not final';
COMMENT ON COLUMN job.cancel    IS 'when cancellation was asked for, UTC';
COMMENT ON COLUMN job.retry     IS 'a stuck job waits until then, UTC';
COMMENT ON COLUMN job.interrupts IS 'how often the worker of the running job died or lost it';
COMMENT ON COLUMN job.result    IS 'what the handler said at the end: a message, or the error';

-- Guarantee G3: of the single jobs of a tracker one at most is not final. The
-- same index finds the pending jobs of any tracker, single or not.
CREATE UNIQUE INDEX nextrun_job_pending ON job (tracker, (CASE WHEN single THEN '' ELSE jid END))
  WHERE state IN ('waiting', 'scheduled', 'running', 'stuck') AND tracker IS NOT NULL;
-- A claim skips along the first three columns from one kind of jobs to the
-- next, so that it never reads a backlog (a loose index scan).
CREATE INDEX nextrun_job_waiting ON job (group_, task, priority, submitted, jid) WHERE state = 'waiting';
CREATE INDEX nextrun_job_active ON job (heartbeat) WHERE state IN ('scheduled', 'running');
CREATE INDEX nextrun_job_stuck ON job (retry) WHERE state = 'stuck';
CREATE INDEX nextrun_job_cancel ON job (worker) WHERE state IN ('scheduled', 'running') AND cancel IS NOT NULL;
CREATE INDEX nextrun_job_finished ON job (finished) WHERE finished IS NOT NULL;

{{if not (found "joblog")}}
CREATE TABLE joblog (
  id      varchar(254) NOT NULL PRIMARY KEY,
  jid     varchar(254) NOT NULL REFERENCES job (jid),
  level   varchar(254) NOT NULL,
  created timestamp    NOT NULL,
  message text         NOT NULL,
  counter bigserial
);
{{else if not (found "joblog.counter")}}
ALTER TABLE joblog ADD COLUMN counter bigserial;
{{end}}
CREATE INDEX nextrun_joblog_jid ON joblog (jid, counter);

{{if not (found "jobgroupuse")}}
CREATE TABLE jobgroupuse (
  groupid  varchar(254) NOT NULL,
  workerid varchar(254) NOT NULL,
  PRIMARY KEY (groupid, workerid)
);
{{end}}

CREATE TABLE job_pause (
  kind  varchar(16)  NOT NULL CONSTRAINT nextrun_pause_kind CHECK (kind IN ('group', 'task')),
  name  varchar(254) NOT NULL,
  since timestamp    NOT NULL,
  PRIMARY KEY (kind, name)
);
COMMENT ON TABLE job_pause IS 'groups and tasks of which executors claim no job';

-- One notification for each transaction that adds jobs: the payload is
-- constant, and PostgreSQL sends equal ones of a transaction once.
-- +goose StatementBegin
CREATE FUNCTION nextrun_job_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('nextrun_job', '');
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_job_added AFTER INSERT ON job
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_job_added();
CREATE TRIGGER nextrun_job_waits AFTER UPDATE OF state, cancel ON job
  FOR EACH ROW WHEN ((NEW.state = 'waiting' AND OLD.state <> 'waiting')
                     OR (NEW.cancel IS NOT NULL AND OLD.cancel IS NULL))
  EXECUTE FUNCTION nextrun_job_added();
CREATE TRIGGER nextrun_pause_ended AFTER DELETE ON job_pause
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_job_added();

-- +goose Down
DROP TABLE job_pause;
DROP TRIGGER nextrun_job_waits ON job;
DROP TRIGGER nextrun_job_added ON job;
DROP FUNCTION nextrun_job_added();
{{if not (found "jobgroupuse")}}
DROP TABLE jobgroupuse;
{{end}}
{{if not (found "joblog")}}
DROP TABLE joblog;
{{else}}
DROP INDEX nextrun_joblog_jid;
{{if not (found "joblog.counter")}}
ALTER TABLE joblog DROP COLUMN counter;
{{end}}
{{end}}
{{if not (found "job")}}
DROP TABLE job;
{{else}}
DROP INDEX nextrun_job_pending;
DROP INDEX nextrun_job_waiting;
DROP INDEX nextrun_job_active;
DROP INDEX nextrun_job_stuck;
DROP INDEX nextrun_job_cancel;
DROP INDEX nextrun_job_finished;
ALTER TABLE job
  DROP COLUMN due,
  DROP COLUMN heartbeat,
  DROP COLUMN single,
  DROP COLUMN cancel,
  DROP COLUMN retry,
  DROP COLUMN result,
  DROP COLUMN interrupts;
{{range withoutDefault "job"}}
ALTER TABLE job ALTER COLUMN {{.Name}} DROP DEFAULT;
{{end}}
{{end}}
DROP TABLE nextrun_found;
