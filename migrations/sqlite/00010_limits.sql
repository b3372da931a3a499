-- Retries, timeouts and limits of single tasks and jobs, limits of how many jobs of
-- a task or a group run at once, and jobs that wait for a time.
--
-- The trigger nextrun_task_edited does not name the new columns of periodic_task: no
-- plan depends on them, and they are read when a job is submitted.

-- +goose Up
ALTER TABLE periodic_task ADD COLUMN retry_limit integer
  CONSTRAINT nextrun_retry_limit CHECK (retry_limit IS NULL OR typeof(retry_limit) = 'integer' AND retry_limit BETWEEN 0 AND 1000000);
ALTER TABLE periodic_task ADD COLUMN retry_delay integer
  CONSTRAINT nextrun_retry_delay CHECK (retry_delay IS NULL OR typeof(retry_delay) = 'integer' AND retry_delay BETWEEN 1 AND 31536000);
ALTER TABLE periodic_task ADD COLUMN timeout integer
  CONSTRAINT nextrun_timeout CHECK (timeout IS NULL OR typeof(timeout) = 'integer' AND timeout BETWEEN 1 AND 31536000);
ALTER TABLE periodic_task ADD COLUMN concurrency integer
  CONSTRAINT nextrun_concurrency CHECK (concurrency IS NULL OR typeof(concurrency) = 'integer' AND concurrency BETWEEN 1 AND 1000000);

ALTER TABLE job ADD COLUMN retry_limit integer
  CONSTRAINT nextrun_job_retry_limit CHECK (retry_limit IS NULL OR typeof(retry_limit) = 'integer' AND retry_limit BETWEEN 0 AND 1000000);
ALTER TABLE job ADD COLUMN retry_delay integer
  CONSTRAINT nextrun_job_retry_delay CHECK (retry_delay IS NULL OR typeof(retry_delay) = 'integer' AND retry_delay BETWEEN 1 AND 31536000);
ALTER TABLE job ADD COLUMN timeout integer
  CONSTRAINT nextrun_job_timeout CHECK (timeout IS NULL OR typeof(timeout) = 'integer' AND timeout BETWEEN 1 AND 31536000);
ALTER TABLE job ADD COLUMN concurrency integer
  CONSTRAINT nextrun_job_concurrency CHECK (concurrency IS NULL OR typeof(concurrency) = 'integer' AND concurrency BETWEEN 1 AND 1000000);

-- Jobs that wait for a time are not in the index of those that can be claimed.
DROP INDEX nextrun_job_waiting;
CREATE INDEX nextrun_job_waiting ON job (task, group_, (priority > 5), submitted, jid)
  WHERE state = 'waiting' AND retry IS NULL;
CREATE INDEX nextrun_job_later ON job (retry) WHERE state = 'waiting' AND retry IS NOT NULL;
-- Those that run and have a limit of their own.
CREATE INDEX nextrun_job_limited ON job (tracker)
  WHERE state IN ('scheduled', 'running') AND concurrency IS NOT NULL;

CREATE TABLE job_limit (
  kind varchar(16)  NOT NULL CONSTRAINT nextrun_limit_kind CHECK (kind IN ('group', 'task')),
  name varchar(254) NOT NULL,
  most integer      NOT NULL CONSTRAINT nextrun_limit_most CHECK (typeof(most) = 'integer' AND most BETWEEN 1 AND 1000000),
  PRIMARY KEY (kind, name)
);

-- +goose Down
DROP TABLE job_limit;
DROP INDEX nextrun_job_limited;
DROP INDEX nextrun_job_later;
DROP INDEX nextrun_job_waiting;
CREATE INDEX nextrun_job_waiting ON job (task, group_, (priority > 5), submitted, jid) WHERE state = 'waiting';
ALTER TABLE job DROP COLUMN retry_limit;
ALTER TABLE job DROP COLUMN retry_delay;
ALTER TABLE job DROP COLUMN timeout;
ALTER TABLE job DROP COLUMN concurrency;
ALTER TABLE periodic_task DROP COLUMN retry_limit;
ALTER TABLE periodic_task DROP COLUMN retry_delay;
ALTER TABLE periodic_task DROP COLUMN timeout;
ALTER TABLE periodic_task DROP COLUMN concurrency;
