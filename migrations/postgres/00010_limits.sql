-- Retries, timeouts and limits of single tasks and jobs, limits of how many jobs of
-- a task or a group run at once, and jobs that wait for a time.
--
-- The trigger nextrun_task_edited does not name the new columns of periodic_task: no
-- plan depends on them, and they are read when a job is submitted.

-- +goose Up
ALTER TABLE periodic_task
  ADD COLUMN retry_limit integer CONSTRAINT nextrun_retry_limit CHECK (retry_limit BETWEEN 0 AND 1000000),
  ADD COLUMN retry_delay integer CONSTRAINT nextrun_retry_delay CHECK (retry_delay BETWEEN 1 AND 31536000),
  ADD COLUMN timeout     integer CONSTRAINT nextrun_timeout CHECK (timeout BETWEEN 1 AND 31536000),
  ADD COLUMN concurrency integer CONSTRAINT nextrun_concurrency CHECK (concurrency BETWEEN 1 AND 1000000);
COMMENT ON COLUMN periodic_task.retry_limit IS 'how often a failed job of the task is tried again; NULL: as its handler or executor says';
COMMENT ON COLUMN periodic_task.retry_delay IS 'seconds before the first retry; NULL: as its handler or executor says';
COMMENT ON COLUMN periodic_task.timeout     IS 'seconds that an attempt may take; NULL: as its handler says';
COMMENT ON COLUMN periodic_task.concurrency IS 'how many jobs of the task may run at once; NULL: any number';

ALTER TABLE job
  ADD COLUMN retry_limit integer CONSTRAINT nextrun_job_retry_limit CHECK (retry_limit BETWEEN 0 AND 1000000),
  ADD COLUMN retry_delay integer CONSTRAINT nextrun_job_retry_delay CHECK (retry_delay BETWEEN 1 AND 31536000),
  ADD COLUMN timeout     integer CONSTRAINT nextrun_job_timeout CHECK (timeout BETWEEN 1 AND 31536000),
  ADD COLUMN concurrency integer CONSTRAINT nextrun_job_concurrency CHECK (concurrency BETWEEN 1 AND 1000000);
COMMENT ON COLUMN job.retry       IS 'a waiting job does not begin before this time, a stuck one is tried again then, UTC';
COMMENT ON COLUMN job.retry_limit IS 'how often it is tried again; NULL: as its handler or executor says';
COMMENT ON COLUMN job.retry_delay IS 'seconds before the first retry; NULL: as its handler or executor says';
COMMENT ON COLUMN job.timeout     IS 'seconds that an attempt may take; NULL: as its handler says';
COMMENT ON COLUMN job.concurrency IS 'it begins only while fewer jobs of its tracker that have such a limit run; NULL: no limit';

-- Jobs that wait for a time are not in the index of those that can be claimed.
DROP INDEX nextrun_job_waiting;
CREATE INDEX nextrun_job_waiting ON job (task COLLATE "C", group_ COLLATE "C", (priority > 5), submitted, jid)
  WHERE state = 'waiting' AND retry IS NULL;
CREATE INDEX nextrun_job_later ON job (retry) WHERE state = 'waiting' AND retry IS NOT NULL;
DROP TRIGGER nextrun_job_waits ON job;
CREATE TRIGGER nextrun_job_waits AFTER UPDATE OF state, cancel, retry ON job
  FOR EACH ROW WHEN ((NEW.state = 'waiting' AND (OLD.state <> 'waiting' OR NEW.retry IS DISTINCT FROM OLD.retry))
                     OR (NEW.cancel IS NOT NULL AND OLD.cancel IS NULL))
  EXECUTE FUNCTION nextrun_job_added();
-- Those that run and have a limit of their own.
CREATE INDEX nextrun_job_limited ON job (tracker)
  WHERE state IN ('scheduled', 'running') AND concurrency IS NOT NULL;

CREATE TABLE job_limit (
  kind varchar(16)  NOT NULL CONSTRAINT nextrun_limit_kind CHECK (kind IN ('group', 'task')),
  name varchar(254) NOT NULL,
  most integer      NOT NULL CONSTRAINT nextrun_limit_most CHECK (most BETWEEN 1 AND 1000000),
  PRIMARY KEY (kind, name)
);
COMMENT ON TABLE job_limit IS 'how many jobs of a group or a task run at once, over all executors';
CREATE TRIGGER nextrun_limit_changed AFTER INSERT OR UPDATE OR DELETE ON job_limit
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_job_added();

-- +goose Down
DROP TABLE job_limit;
DROP TRIGGER nextrun_job_waits ON job;
CREATE TRIGGER nextrun_job_waits AFTER UPDATE OF state, cancel ON job
  FOR EACH ROW WHEN ((NEW.state = 'waiting' AND OLD.state <> 'waiting')
                     OR (NEW.cancel IS NOT NULL AND OLD.cancel IS NULL))
  EXECUTE FUNCTION nextrun_job_added();
DROP INDEX nextrun_job_limited;
DROP INDEX nextrun_job_later;
DROP INDEX nextrun_job_waiting;
CREATE INDEX nextrun_job_waiting ON job (task COLLATE "C", group_ COLLATE "C", (priority > 5), submitted, jid)
  WHERE state = 'waiting';
ALTER TABLE job
  DROP COLUMN retry_limit,
  DROP COLUMN retry_delay,
  DROP COLUMN timeout,
  DROP COLUMN concurrency;
ALTER TABLE periodic_task
  DROP COLUMN retry_limit,
  DROP COLUMN retry_delay,
  DROP COLUMN timeout,
  DROP COLUMN concurrency;
