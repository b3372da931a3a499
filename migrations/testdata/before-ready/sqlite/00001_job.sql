-- The queue: job, joblog and jobgroupuse as Docspell has them, and nextrun's
-- own columns. `found` is true for what was there before nextrun came; such
-- things are never dropped (see the package comment of migrations).

-- +goose Up
CREATE TABLE nextrun_found (name text NOT NULL PRIMARY KEY);
{{range foundNames}}
INSERT INTO nextrun_found (name) VALUES ('{{.}}');
{{end}}

{{if not (found "job")}}
CREATE TABLE job (
  jid           varchar(254) NOT NULL PRIMARY KEY DEFAULT (lower(hex(randomblob(16)))),
  task          varchar(254) NOT NULL,
  group_        varchar(254) NOT NULL DEFAULT 'default',
  args          text         NOT NULL DEFAULT '{}',
  subject       varchar(254) NOT NULL DEFAULT '',
  submitted     timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  submitter     varchar(254) NOT NULL DEFAULT 'nextrun',
  priority      integer      NOT NULL DEFAULT 0,
  state         varchar(254) NOT NULL DEFAULT 'waiting',
  retries       integer      NOT NULL DEFAULT 0,
  progress      integer      NOT NULL DEFAULT 0,
  tracker       varchar(254),
  worker        varchar(254),
  started       timestamp,
  startedmillis bigint,
  finished      timestamp
);
{{end}}

ALTER TABLE job ADD COLUMN due       timestamp;
ALTER TABLE job ADD COLUMN heartbeat timestamp;
ALTER TABLE job ADD COLUMN single    boolean NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN cancel    timestamp;
ALTER TABLE job ADD COLUMN retry     timestamp;
ALTER TABLE job ADD COLUMN result    text;
ALTER TABLE job ADD COLUMN interrupts integer NOT NULL DEFAULT 0;

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
  counter bigint
);
{{else if not (found "joblog.counter")}}
ALTER TABLE joblog ADD COLUMN counter bigint;
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

-- +goose Down
DROP TABLE job_pause;
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
ALTER TABLE job DROP COLUMN due;
ALTER TABLE job DROP COLUMN heartbeat;
ALTER TABLE job DROP COLUMN single;
ALTER TABLE job DROP COLUMN cancel;
ALTER TABLE job DROP COLUMN retry;
ALTER TABLE job DROP COLUMN result;
ALTER TABLE job DROP COLUMN interrupts;
{{end}}
DROP TABLE nextrun_found;
