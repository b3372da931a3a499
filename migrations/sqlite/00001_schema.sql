-- The schema of nextrun, in the order of postgres/00001_schema.sql, where comments say what the
-- columns mean. Only what SQLite 3.37 has, so that the sqlite3 program can be used.
--
-- What PostgreSQL's types and CHECKs refuse, triggers named nextrun_..._refuse_... refuse here. Of
-- ids, names, numbers, marks and times of a wrong type they do so only in tables that nextrun has
-- created itself: in tables that were found other programs may write as they always did. Of an
-- update they check only what it changes, so that a row with an old wrong value can still be
-- worked on.

{{/* canonical: {{.}} is a time in the one form in which times are stored. */}}
{{define "canonical"}}({{.}} GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]'){{end}}

{{/* utc is the time text {{.}} as YYYY-MM-DD HH:MM:SS.ffffff in UTC, or NULL where it is none. */}}
{{define "utc"}}(
    SELECT CASE WHEN typeof(c) <> 'text' OR instr(c, char(0)) THEN NULL
      WHEN c NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]*' THEN NULL
      WHEN date(substr(c, 1, 10), '+0 days') IS NOT substr(c, 1, 10) OR substr(c, 12, 2) > '23' THEN NULL
      WHEN body <> '' AND body NOT GLOB ':[0-5][0-9]'
       AND (body NOT GLOB ':[0-5][0-9].[0-9]*' OR substr(body, 5) GLOB '*[^0-9]*') THEN NULL
      WHEN utc NOT GLOB '[0-9][0-9][0-9][0-9]-*' OR utc < '1970-01-01' THEN NULL
      ELSE utc || '.' || substr(substr(body, 5) || '000000', 1, 6) END
    FROM (SELECT c, body, strftime('%Y-%m-%d %H:%M:%S', substr(c, 1, 16) || coalesce(nullif(substr(body, 1, 3), ''), ':00') || zone) AS utc
      FROM (SELECT c, zone, substr(tail, 1, length(tail) - length(zone)) AS body
        FROM (SELECT c, tail, CASE WHEN tail GLOB '*Z' THEN 'Z'
                                   WHEN tail GLOB '*[+-][0-9][0-9]:[0-9][0-9]' THEN substr(tail, -6)
                                   ELSE '' END AS zone
          FROM (SELECT {{.}} AS c, substr({{.}}, 17) AS tail)))))
{{end}}

{{define "long"}}(typeof({{.}}) = 'text'){{end}}
{{define "label"}}(typeof({{.}}) = 'text' AND length({{.}}) <= 254 AND NOT instr(CAST({{.}} AS BLOB), x'00')){{end}}
{{define "name"}}({{template "label" .}} AND {{.}} <> ''){{end}}
{{define "integer"}}(typeof({{.}}) = 'integer' AND {{.}} BETWEEN -2147483648 AND 2147483647){{end}}
{{define "rev"}}max({{.}} + 1, CAST((julianday('now') - 2440587.5) * 86400000 AS integer) * 1000){{end}}
{{define "time"}}(typeof({{.}}) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', {{.}}) IS substr({{.}}, 1, 19)
    AND (length({{.}}) = 19 OR substr({{.}}, 20) GLOB '.[0-9]*' AND substr({{.}}, 21) NOT GLOB '*[^0-9]*')){{end}}
{{define "isName"}}must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...){{end}}
{{define "isLabel"}}must be text of at most 254 characters without NUL{{end}}
{{define "isLong"}}must be text{{end}}
{{define "isInteger"}}must be an integer of 32 bits{{end}}
{{define "isTime"}}must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives{{end}}
{{define "labelOrNull"}}({{.}} IS NULL OR typeof({{.}}) = 'text' AND length({{.}}) <= 254 AND NOT instr(CAST({{.}} AS BLOB), x'00')){{end}}
{{define "canonicalOrNull"}}({{.}} IS NULL OR {{template "canonical" .}}){{end}}
{{define "utcOrNull"}}CASE WHEN {{.}} IS NOT NULL THEN {{template "utc" .}} END{{end}}

-- +goose Up
-- Of processes that migrate at the same time one applies each migration; the
-- others fail, and go on with the next.
CREATE UNIQUE INDEX nextrun_migration_once ON nextrun_migration (version_id) WHERE version_id > 0;

CREATE TABLE nextrun_found (
  name text NOT NULL PRIMARY KEY
);
INSERT INTO nextrun_found (name) VALUES ('{{file}}');
{{range foundNames}}
INSERT INTO nextrun_found (name) VALUES ('{{.}}');
{{end}}

-- Tasks ---------------------------------------------------------------------------------------------------------------

-- The table of Docspell's ADR 0012, and below it nextrun's own columns.
{{if not (found "periodic_task")}}
CREATE TABLE periodic_task (
  id        varchar(254) NOT NULL PRIMARY KEY,
  enabled   boolean      NOT NULL DEFAULT 1,
  task      varchar(254) NOT NULL,
  group_    varchar(254) NOT NULL DEFAULT 'default',
  args      text         NOT NULL DEFAULT '{}',
  subject   varchar(254) NOT NULL DEFAULT '',
  submitter varchar(254) NOT NULL DEFAULT 'nextrun',
  priority  integer      NOT NULL DEFAULT 0,
  worker    varchar(254),
  marked    timestamp,
  timer     varchar(254) NOT NULL,
  nextrun   timestamp    NOT NULL DEFAULT '1970-01-01 00:00:00.000000',
  created   timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  summary   varchar(254),
  since     timestamp    DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
{{else}}
ALTER TABLE periodic_task ADD COLUMN since timestamp;
{{if not (found "periodic_task.summary")}}
ALTER TABLE periodic_task ADD COLUMN summary varchar(254);
{{end}}
{{end}}

ALTER TABLE periodic_task ADD COLUMN due timestamp;
ALTER TABLE periodic_task ADD COLUMN rev integer NOT NULL DEFAULT 1;
ALTER TABLE periodic_task ADD COLUMN starts timestamp;
ALTER TABLE periodic_task ADD COLUMN ends timestamp;
ALTER TABLE periodic_task ADD COLUMN exclude_calendars varchar(254);
ALTER TABLE periodic_task ADD COLUMN jitter integer NOT NULL DEFAULT 0;
ALTER TABLE periodic_task ADD COLUMN grace integer NOT NULL DEFAULT 60;
ALTER TABLE periodic_task ADD COLUMN catchup varchar(16) NOT NULL DEFAULT 'one';
ALTER TABLE periodic_task ADD COLUMN catchup_limit integer;
ALTER TABLE periodic_task ADD COLUMN overlap varchar(16) NOT NULL DEFAULT 'skip';
ALTER TABLE periodic_task ADD COLUMN deadline integer;
ALTER TABLE periodic_task ADD COLUMN sink varchar(64) NOT NULL DEFAULT 'job';
ALTER TABLE periodic_task ADD COLUMN retry_limit integer;
ALTER TABLE periodic_task ADD COLUMN retry_delay integer;
ALTER TABLE periodic_task ADD COLUMN timeout integer;
ALTER TABLE periodic_task ADD COLUMN pause_after integer;
ALTER TABLE periodic_task ADD COLUMN paused timestamp;
ALTER TABLE periodic_task ADD COLUMN paused_until timestamp;
ALTER TABLE periodic_task ADD COLUMN paused_by varchar(254);
ALTER TABLE periodic_task ADD COLUMN paused_reason varchar(254);
ALTER TABLE periodic_task ADD COLUMN resumed timestamp;
ALTER TABLE periodic_task ADD COLUMN origin varchar(254);
ALTER TABLE periodic_task ADD COLUMN problem text;

{{if found "periodic_task"}}
-- The same times in the one form, by which the triggers below know a row.
UPDATE periodic_task SET nextrun = coalesce({{template "utc" "periodic_task.nextrun"}}, nextrun),
                         created = coalesce({{template "utc" "periodic_task.created"}}, created);
-- The plans of tasks that were there may have been changed a moment ago.
UPDATE periodic_task SET since = strftime('%Y-%m-%d %H:%M:%f000', 'now');
-- After `migrate down` and `up` a task that had stopped, such as one with an
-- unreadable timer, looks like one that was set to the year 9999 by hand.
UPDATE periodic_task SET nextrun = '1970-01-01 00:00:00.000000' WHERE nextrun >= '9999-12-31 23:59:59';
{{end}}

CREATE INDEX nextrun_task_due ON periodic_task (nextrun, id) WHERE enabled AND worker IS NULL;
CREATE INDEX nextrun_task_marked ON periodic_task (marked) WHERE worker IS NOT NULL;

{{define "day"}}({{.}} IS NULL OR typeof({{.}}) = 'text' AND date({{.}}) IS {{.}} AND {{.}} >= '1970-01-01'){{end}}
CREATE TABLE periodic_calendar (
  name      varchar(64) NOT NULL CONSTRAINT nextrun_calendar_name
            CHECK (typeof(name) = 'text' AND length(name) <= 64 AND name GLOB '[A-Za-z0-9]*' AND name NOT GLOB '*[^A-Za-z0-9._-]*'),
  first_day date NOT NULL CONSTRAINT nextrun_calendar_first CHECK {{template "day" "first_day"}},
  last_day  date CONSTRAINT nextrun_calendar_last CHECK {{template "day" "last_day"}},
  reason    varchar(254) CONSTRAINT nextrun_calendar_reason CHECK {{template "labelOrNull" "reason"}},
  PRIMARY KEY (name, first_day),
  CONSTRAINT nextrun_calendar_days CHECK (last_day >= first_day)
) WITHOUT ROWID;

-- Ticks ---------------------------------------------------------------------------------------------------------------

CREATE TABLE periodic_tick (
  task_id  varchar(254) NOT NULL,
  due      timestamp    NOT NULL,
  decision varchar(16)  NOT NULL,
  cause    varchar(16),
  reason   text,
  missed   integer      NOT NULL DEFAULT 0,
  until    timestamp,
  jid      varchar(254),
  worker   varchar(254),
  decided  timestamp,
  outcome  varchar(16),
  finished timestamp,
  attempts integer,
  error    varchar(1000),
  PRIMARY KEY (task_id, due),
  CONSTRAINT nextrun_decision   CHECK (decision IN ('submitted', 'skipped', 'late', 'missed')),
  CONSTRAINT nextrun_tick_ahead CHECK (decided IS NOT NULL OR decision = 'skipped'),
  CONSTRAINT nextrun_outcome    CHECK (outcome IN ('success', 'failed', 'cancelled', 'gone', 'unknown'))
) WITHOUT ROWID;
CREATE INDEX nextrun_tick_skips ON periodic_tick (task_id, due) WHERE decided IS NULL;

-- The jobs in queues that are not nextrun's own whose end is not recorded yet. A row is added in the
-- transaction that submits the job, and deleted in the one that records how it ended.
CREATE TABLE periodic_open (
  task_id   varchar(254) NOT NULL,
  due       timestamp    NOT NULL,
  sink      varchar(64)  NOT NULL,
  ref       text         NOT NULL,
  jid       varchar(254) NOT NULL,
  submitted timestamp    NOT NULL,
  look      timestamp    NOT NULL,
  tells     boolean      NOT NULL DEFAULT true,
  asked     timestamp,
  ended     timestamp,
  PRIMARY KEY (task_id, due)
) WITHOUT ROWID;
CREATE INDEX nextrun_open_look ON periodic_open (sink, look);

-- Jobs ----------------------------------------------------------------------------------------------------------------

-- The queue: job, joblog and jobgroupuse as Docspell has them, and nextrun's own columns.
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
ALTER TABLE job ADD COLUMN single    boolean NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN cancel    timestamp;
ALTER TABLE job ADD COLUMN retry     timestamp;
ALTER TABLE job ADD COLUMN result    text;
ALTER TABLE job ADD COLUMN interrupts integer NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN retry_limit integer
  CONSTRAINT nextrun_job_retry_limit CHECK (retry_limit IS NULL OR typeof(retry_limit) = 'integer' AND retry_limit BETWEEN 0 AND 1000000);
ALTER TABLE job ADD COLUMN retry_delay integer
  CONSTRAINT nextrun_job_retry_delay CHECK (retry_delay IS NULL OR typeof(retry_delay) = 'integer' AND retry_delay BETWEEN 1 AND 31536000);
ALTER TABLE job ADD COLUMN timeout integer
  CONSTRAINT nextrun_job_timeout CHECK (timeout IS NULL OR typeof(timeout) = 'integer' AND timeout BETWEEN 1 AND 31536000);
ALTER TABLE job ADD COLUMN traceparent text;

-- Guarantee G3: of the single jobs of a tracker one at most is not final. The
-- same index finds the pending jobs of any tracker, single or not.
CREATE UNIQUE INDEX nextrun_job_pending ON job (tracker, (CASE WHEN single THEN '' ELSE jid END))
  WHERE state IN ('waiting', 'scheduled', 'running', 'stuck') AND tracker IS NOT NULL;
-- A claim skips from one group to the next for each of its tasks, and within a
-- group it distinguishes jobs of high and of low priority only. So neither many
-- groups, nor many priorities, nor jobs of other tasks slow it down. Jobs that
-- wait for a time are not in the index of those that can be claimed.
CREATE INDEX nextrun_job_waiting ON job (task, group_, (priority > 5), submitted, jid)
  WHERE state = 'waiting' AND retry IS NULL;
CREATE INDEX nextrun_job_retry ON job (retry) WHERE state = 'stuck' OR state = 'waiting' AND retry IS NOT NULL;
CREATE INDEX nextrun_job_active ON job (worker) WHERE state IN ('scheduled', 'running');
CREATE INDEX nextrun_job_finished ON job (finished) WHERE finished IS NOT NULL;
CREATE INDEX nextrun_job_hooks ON job (submitted) WHERE group_ = 'nextrun.hooks';

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

CREATE TABLE job_limit (
  kind varchar(16)  NOT NULL CONSTRAINT nextrun_limit_kind CHECK (kind IN ('group', 'handler', 'task')),
  name varchar(254) NOT NULL,
  max  integer      NOT NULL CONSTRAINT nextrun_limit_max CHECK (typeof(max) = 'integer' AND max BETWEEN 0 AND 1000000),
  PRIMARY KEY (kind, name)
);

-- Locks and workers ---------------------------------------------------------------------------------------------------

-- The locks of modes leader and exclusive, by their names, and a relay's lease of a topic: a row while somebody holds
-- it, or has died.
{{if not (found "scheduler_lock")}}
CREATE TABLE scheduler_lock (
  name      varchar(260) NOT NULL PRIMARY KEY,
  holder    varchar(254) NOT NULL,
  hostname  varchar(254) NOT NULL,
  pid       integer      NOT NULL,
  token     bigint       NOT NULL,
  acquired  timestamp    NOT NULL,
  heartbeat timestamp    NOT NULL,
  expires   timestamp    NOT NULL
);
{{end}}

-- Who works on this database: a row for each start of a scheduler, an executor or a relay. Others can say what a
-- waiting job waits for, and who has died: an executor whose beat stays the same while it has jobs.
CREATE TABLE worker (
  id          varchar(254) NOT NULL PRIMARY KEY,
  kind        varchar(32)  NOT NULL,
  version     varchar(254) NOT NULL,
  started     timestamp    NOT NULL,
  beat        bigint       NOT NULL DEFAULT 0,
  seen        timestamp    NOT NULL,
  places      integer,
  only_groups text,
  handlers    text,
  zones       text,
  trouble     text
);

-- Events --------------------------------------------------------------------------------------------------------------

-- Events instead of jobs: the store of events, and the outbox of messages that a relay publishes.
CREATE TABLE event_store (
  seq               integer      NOT NULL PRIMARY KEY,
  id                varchar(254) NOT NULL UNIQUE,
  topic             varchar(254) NOT NULL,
  type              varchar(254) NOT NULL,
  aggregate_id      varchar(254) NOT NULL,
  aggregate_version bigint       NOT NULL CONSTRAINT nextrun_version_positive CHECK (aggregate_version > 0),
  payload           text         NOT NULL DEFAULT '{}',
  due               timestamp,
  created           timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  traceparent       text,
  CONSTRAINT nextrun_event_version UNIQUE (aggregate_id, aggregate_version)
);
-- Guarantee G1: at most one event for each tick of a task.
CREATE UNIQUE INDEX nextrun_event_due ON event_store (aggregate_id, due) WHERE due IS NOT NULL;
CREATE INDEX nextrun_event_topic ON event_store (topic, seq);

CREATE TABLE event_aggregate (
  id      varchar(254) NOT NULL PRIMARY KEY,
  version bigint       NOT NULL
) WITHOUT ROWID;

CREATE TABLE outbox_message (
  id        integer      NOT NULL PRIMARY KEY,
  event_id  varchar(254) NOT NULL UNIQUE REFERENCES event_store (id),
  topic     varchar(254) NOT NULL,
  created   timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  published timestamp,
  attempts  integer      NOT NULL DEFAULT 0,
  refusals  integer      NOT NULL DEFAULT 0,
  problem   text,
  retry     timestamp,
  dead      timestamp
);
CREATE INDEX nextrun_message_pending ON outbox_message (topic, id) WHERE published IS NULL AND dead IS NULL;
CREATE INDEX nextrun_message_dead ON outbox_message (topic, id) WHERE dead IS NOT NULL;

-- What is refused -----------------------------------------------------------------------------------------------------

{{define "isUTC"}}must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31{{end}}
{{define "refuseNextrun"}}
  SELECT RAISE(ABORT, 'periodic_task: nextrun {{template "isUTC"}}; an offset or Z may follow') WHERE {{template "utc" "NEW.nextrun"}} IS NULL;
{{end}}
{{define "refuseMark"}}
  SELECT CASE
    WHEN NEW.worker IS NOT NULL AND NOT {{template "label" "NEW.worker"}} THEN RAISE(ABORT, 'periodic_task: worker {{template "isLabel"}}, or NULL; leave it to the scheduler')
    WHEN NEW.marked IS NOT NULL AND NOT {{template "time" "NEW.marked"}} THEN RAISE(ABORT, 'periodic_task: marked {{template "isTime"}}, or NULL; leave it to the scheduler')
    WHEN NEW.problem IS NOT NULL AND NOT {{template "long" "NEW.problem"}} THEN RAISE(ABORT, 'periodic_task: problem {{template "isLong"}}, or NULL')
  END;
{{end}}
{{define "refuseTask"}}
  SELECT CASE
    WHEN {{if eq . "update"}}NEW.id IS NOT OLD.id AND {{end}}NOT {{template "name" "NEW.id"}} THEN RAISE(ABORT, 'periodic_task: id {{template "isName"}}')
    WHEN {{if eq . "update"}}NEW.enabled IS NOT OLD.enabled AND {{end}}NEW.enabled IS NOT 0 AND NEW.enabled IS NOT 1 THEN RAISE(ABORT, 'periodic_task: enabled must be 0 or 1 (or false, true)')
    WHEN {{if eq . "update"}}NEW.task IS NOT OLD.task AND {{end}}NOT {{template "label" "NEW.task"}} THEN RAISE(ABORT, 'periodic_task: task {{template "isLabel"}}')
    WHEN {{if eq . "update"}}NEW.group_ IS NOT OLD.group_ AND {{end}}NOT {{template "label" "NEW.group_"}} THEN RAISE(ABORT, 'periodic_task: group_ {{template "isLabel"}}')
    WHEN {{if eq . "update"}}NEW.timer IS NOT OLD.timer AND {{end}}NOT {{template "label" "NEW.timer"}} THEN RAISE(ABORT, 'periodic_task: timer {{template "isLabel"}}')
    WHEN {{if eq . "update"}}NEW.subject IS NOT OLD.subject AND {{end}}NOT {{template "label" "NEW.subject"}} THEN RAISE(ABORT, 'periodic_task: subject {{template "isLabel"}}')
    WHEN {{if eq . "update"}}NEW.submitter IS NOT OLD.submitter AND {{end}}NOT {{template "label" "NEW.submitter"}} THEN RAISE(ABORT, 'periodic_task: submitter {{template "isLabel"}}')
    WHEN {{if eq . "update"}}NEW.args IS NOT OLD.args AND {{end}}NOT {{template "long" "NEW.args"}} THEN RAISE(ABORT, 'periodic_task: args {{template "isLong"}}')
    WHEN {{if eq . "update"}}NEW.priority IS NOT OLD.priority AND {{end}}NOT {{template "integer" "NEW.priority"}} THEN RAISE(ABORT, 'periodic_task: priority {{template "isInteger"}}: 0 is low, 10 is high')
    WHEN {{if eq . "update"}}NEW.summary IS NOT OLD.summary AND {{end}}NOT {{template "labelOrNull" "NEW.summary"}} THEN RAISE(ABORT, 'periodic_task: summary {{template "isLabel"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.exclude_calendars IS NOT OLD.exclude_calendars AND {{end}}NOT {{template "labelOrNull" "NEW.exclude_calendars"}} THEN RAISE(ABORT, 'periodic_task: exclude_calendars {{template "isLabel"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.paused_by IS NOT OLD.paused_by AND {{end}}NOT {{template "labelOrNull" "NEW.paused_by"}} THEN RAISE(ABORT, 'periodic_task: paused_by {{template "isLabel"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.paused_reason IS NOT OLD.paused_reason AND {{end}}NOT {{template "labelOrNull" "NEW.paused_reason"}} THEN RAISE(ABORT, 'periodic_task: paused_reason {{template "isLabel"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.origin IS NOT OLD.origin AND {{end}}NOT ({{template "labelOrNull" "NEW.origin"}} AND NEW.origin IS NOT '') THEN RAISE(ABORT, 'periodic_task: origin {{template "isName"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.created IS NOT OLD.created AND {{end}}{{template "utc" "NEW.created"}} IS NULL THEN RAISE(ABORT, 'periodic_task: created {{template "isUTC"}}; an offset or Z may follow')
    WHEN {{if eq . "update"}}NEW.starts IS NOT OLD.starts AND {{end}}NEW.starts IS NOT NULL AND {{template "utc" "NEW.starts"}} IS NULL THEN RAISE(ABORT, 'periodic_task: starts {{template "isUTC"}}, or NULL; an offset or Z may follow')
    WHEN {{if eq . "update"}}NEW.ends IS NOT OLD.ends AND {{end}}NEW.ends IS NOT NULL AND {{template "utc" "NEW.ends"}} IS NULL THEN RAISE(ABORT, 'periodic_task: ends {{template "isUTC"}}, or NULL; an offset or Z may follow')
    WHEN {{if eq . "update"}}NEW.paused_until IS NOT OLD.paused_until AND {{end}}NEW.paused_until IS NOT NULL AND {{template "utc" "NEW.paused_until"}} IS NULL THEN RAISE(ABORT, 'periodic_task: paused_until {{template "isUTC"}}, or NULL; an offset or Z may follow')
    WHEN {{if eq . "update"}}NEW.paused IS NOT OLD.paused AND {{end}}NEW.paused IS NOT NULL AND {{template "utc" "NEW.paused"}} IS NULL THEN RAISE(ABORT, 'periodic_task: paused {{template "isUTC"}}; to pause the task set it to CURRENT_TIMESTAMP (paused_until says when the pause ends), to resume it set it to NULL')
    WHEN {{if eq . "update"}}(NEW.starts IS NOT OLD.starts OR NEW.ends IS NOT OLD.ends) AND {{end}}{{template "utc" "NEW.starts"}} >= {{template "utc" "NEW.ends"}} THEN RAISE(ABORT, 'periodic_task: ends must be later than starts')
    WHEN {{if eq . "update"}}NEW.overlap IS NOT OLD.overlap AND {{end}}NEW.overlap NOT IN ('skip', 'queue', 'replace', 'allow') THEN RAISE(ABORT, 'periodic_task: overlap must be skip, queue, replace or allow')
    WHEN {{if eq . "update"}}NEW.catchup IS NOT OLD.catchup AND {{end}}NEW.catchup NOT IN ('one', 'none', 'all') THEN RAISE(ABORT, 'periodic_task: catchup must be one, none or all')
    WHEN {{if eq . "update"}}NEW.catchup_limit IS NOT OLD.catchup_limit AND {{end}}NEW.catchup_limit IS NOT NULL AND (typeof(NEW.catchup_limit) <> 'integer' OR NEW.catchup_limit NOT BETWEEN 1 AND 10000) THEN RAISE(ABORT, 'periodic_task: catchup_limit must be 1 to 10000, or NULL for all')
    WHEN {{if eq . "update"}}NEW.grace IS NOT OLD.grace AND {{end}}(typeof(NEW.grace) <> 'integer' OR NEW.grace NOT BETWEEN 0 AND 2147483647) THEN RAISE(ABORT, 'periodic_task: grace must be seconds, 0 or more')
    WHEN {{if eq . "update"}}NEW.deadline IS NOT OLD.deadline AND {{end}}NEW.deadline IS NOT NULL AND (typeof(NEW.deadline) <> 'integer' OR NEW.deadline NOT BETWEEN 0 AND 2147483647) THEN RAISE(ABORT, 'periodic_task: deadline must be seconds, 0 or more, or NULL for none')
    WHEN {{if eq . "update"}}NEW.jitter IS NOT OLD.jitter AND {{end}}(typeof(NEW.jitter) <> 'integer' OR NEW.jitter NOT BETWEEN 0 AND 2147483647) THEN RAISE(ABORT, 'periodic_task: jitter must be seconds, 0 or more')
    WHEN {{if eq . "update"}}NEW.sink IS NOT OLD.sink AND {{end}}(NEW.sink NOT GLOB '[a-z]*' OR NEW.sink GLOB '*[^a-z0-9_-]*' OR length(NEW.sink) > 64) THEN RAISE(ABORT, 'periodic_task: sink must be job, event or the name of a queue: at most 64 lower-case letters, digits, _ and -, a letter first')
    WHEN {{if eq . "update"}}NEW.retry_limit IS NOT OLD.retry_limit AND {{end}}NEW.retry_limit IS NOT NULL AND (typeof(NEW.retry_limit) <> 'integer' OR NEW.retry_limit NOT BETWEEN 0 AND 1000000) THEN RAISE(ABORT, 'periodic_task: retry_limit must be 0 to 1000000, or NULL')
    WHEN {{if eq . "update"}}NEW.retry_delay IS NOT OLD.retry_delay AND {{end}}NEW.retry_delay IS NOT NULL AND (typeof(NEW.retry_delay) <> 'integer' OR NEW.retry_delay NOT BETWEEN 1 AND 31536000) THEN RAISE(ABORT, 'periodic_task: retry_delay must be 1 to 31536000 seconds, or NULL')
    WHEN {{if eq . "update"}}NEW.timeout IS NOT OLD.timeout AND {{end}}NEW.timeout IS NOT NULL AND (typeof(NEW.timeout) <> 'integer' OR NEW.timeout NOT BETWEEN 1 AND 31536000) THEN RAISE(ABORT, 'periodic_task: timeout must be 1 to 31536000 seconds, or NULL')
    WHEN {{if eq . "update"}}NEW.pause_after IS NOT OLD.pause_after AND {{end}}NEW.pause_after IS NOT NULL AND (typeof(NEW.pause_after) <> 'integer' OR NEW.pause_after NOT BETWEEN 1 AND 1000000) THEN RAISE(ABORT, 'periodic_task: pause_after must be 1 to 1000000, or NULL for never')
  END;
{{end}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_added BEFORE INSERT ON periodic_task
BEGIN
{{template "refuseTask" "insert"}}
{{template "refuseNextrun"}}
{{if not (found "periodic_task")}}{{template "refuseMark"}}{{end}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_edited
  BEFORE UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, created, summary, starts, ends,
                   exclude_calendars, overlap, catchup, catchup_limit, grace, deadline, jitter, sink, retry_limit, retry_delay,
                   timeout, pause_after, paused, paused_until, paused_by, paused_reason, origin ON periodic_task
BEGIN
{{template "refuseTask" "update"}}
END;
-- +goose StatementEnd
-- A scheduler writes both, in the one form.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_moved BEFORE UPDATE OF nextrun, due ON periodic_task
  WHEN NEW.due IS OLD.due AND NEW.nextrun IS NOT OLD.nextrun OR NOT {{template "canonical" "NEW.nextrun"}}
    OR NEW.due IS NOT NULL AND NOT ({{template "canonical" "NEW.due"}} AND strftime('%Y-%m-%d %H:%M:%S', NEW.due) IS substr(NEW.due, 1, 19))
BEGIN
{{template "refuseNextrun"}}
  SELECT RAISE(ABORT, 'periodic_task: due is for the scheduler to write, and nextrun with it as YYYY-MM-DD HH:MM:SS.ffffff') WHERE NEW.due IS NOT OLD.due;
END;
-- +goose StatementEnd
{{if not (found "periodic_task")}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_marked BEFORE UPDATE OF worker, marked, problem ON periodic_task
  WHEN NEW.worker IS NOT NULL OR NEW.marked IS NOT NULL OR NEW.problem IS NOT NULL
BEGIN
{{template "refuseMark"}}
END;
-- +goose StatementEnd
{{end}}

{{define "jobIdentity"}}
  SELECT CASE
    WHEN {{if eq . "update"}}NEW.jid IS NOT OLD.jid AND {{end}}NOT {{template "name" "NEW.jid"}} THEN RAISE(ABORT, 'job: jid {{template "isName"}}')
    WHEN {{if eq . "update"}}NEW.task IS NOT OLD.task AND {{end}}NOT {{template "name" "NEW.task"}} THEN RAISE(ABORT, 'job: task {{template "isName"}}')
    WHEN {{if eq . "update"}}NEW.group_ IS NOT OLD.group_ AND {{end}}NOT {{template "name" "NEW.group_"}} THEN RAISE(ABORT, 'job: group_ {{template "isName"}}')
    WHEN {{if eq . "update"}}NEW.args IS NOT OLD.args AND {{end}}NOT {{template "long" "NEW.args"}} THEN RAISE(ABORT, 'job: args {{template "isLong"}}')
    WHEN {{if eq . "update"}}NEW.subject IS NOT OLD.subject AND {{end}}NOT {{template "label" "NEW.subject"}} THEN RAISE(ABORT, 'job: subject {{template "isLabel"}}')
    WHEN {{if eq . "update"}}NEW.submitter IS NOT OLD.submitter AND {{end}}NOT {{template "label" "NEW.submitter"}} THEN RAISE(ABORT, 'job: submitter {{template "isLabel"}}')
    WHEN {{if eq . "update"}}NEW.submitted IS NOT OLD.submitted AND {{end}}NOT {{template "time" "NEW.submitted"}} THEN RAISE(ABORT, 'job: submitted {{template "isTime"}}')
    WHEN {{if eq . "update"}}NEW.priority IS NOT OLD.priority AND {{end}}NOT {{template "integer" "NEW.priority"}} THEN RAISE(ABORT, 'job: priority {{template "isInteger"}}: 0 is low, 10 is high')
    WHEN {{if eq . "update"}}NEW.tracker IS NOT OLD.tracker AND {{end}}NEW.tracker IS NOT NULL AND NOT {{template "name" "NEW.tracker"}} THEN RAISE(ABORT, 'job: tracker {{template "isName"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.due IS NOT OLD.due AND {{end}}NEW.due IS NOT NULL AND NOT {{template "time" "NEW.due"}} THEN RAISE(ABORT, 'job: due {{template "isTime"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.single IS NOT OLD.single AND {{end}}(typeof(NEW.single) <> 'integer' OR NEW.single NOT IN (0, 1)) THEN RAISE(ABORT, 'job: single must be 0 or 1 (or false, true)')
  END;
{{end}}
{{define "jobProgress"}}
  SELECT CASE
    WHEN {{if eq . "update"}}NEW.state IS NOT OLD.state AND {{end}}NOT {{template "name" "NEW.state"}} THEN RAISE(ABORT, 'job: state must be text: waiting, scheduled, running, stuck, failed, cancelled or success')
    WHEN {{if eq . "update"}}NEW.retries IS NOT OLD.retries AND {{end}}NOT {{template "integer" "NEW.retries"}} THEN RAISE(ABORT, 'job: retries {{template "isInteger"}}')
    WHEN {{if eq . "update"}}NEW.progress IS NOT OLD.progress AND {{end}}NOT {{template "integer" "NEW.progress"}} THEN RAISE(ABORT, 'job: progress {{template "isInteger"}}')
    WHEN {{if eq . "update"}}NEW.interrupts IS NOT OLD.interrupts AND {{end}}NOT {{template "integer" "NEW.interrupts"}} THEN RAISE(ABORT, 'job: interrupts {{template "isInteger"}}')
    WHEN {{if eq . "update"}}NEW.worker IS NOT OLD.worker AND {{end}}NEW.worker IS NOT NULL AND NOT {{template "label" "NEW.worker"}} THEN RAISE(ABORT, 'job: worker {{template "isLabel"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.startedmillis IS NOT OLD.startedmillis AND {{end}}typeof(NEW.startedmillis) NOT IN ('integer', 'null') THEN RAISE(ABORT, 'job: startedmillis must be an integer, or NULL')
    WHEN {{if eq . "update"}}NEW.started IS NOT OLD.started AND {{end}}NEW.started IS NOT NULL AND NOT {{template "time" "NEW.started"}} THEN RAISE(ABORT, 'job: started {{template "isTime"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.finished IS NOT OLD.finished AND {{end}}NEW.finished IS NOT NULL AND NOT {{template "time" "NEW.finished"}} THEN RAISE(ABORT, 'job: finished {{template "isTime"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.cancel IS NOT OLD.cancel AND {{end}}NEW.cancel IS NOT NULL AND NOT {{template "time" "NEW.cancel"}} THEN RAISE(ABORT, 'job: cancel {{template "isTime"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.retry IS NOT OLD.retry AND {{end}}NEW.retry IS NOT NULL AND NOT {{template "time" "NEW.retry"}} THEN RAISE(ABORT, 'job: retry {{template "isTime"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.result IS NOT OLD.result AND {{end}}NEW.result IS NOT NULL AND NOT {{template "long" "NEW.result"}} THEN RAISE(ABORT, 'job: result {{template "isLong"}}, or NULL')
  END;
{{end}}
{{if not (found "job")}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_job_refuse_added BEFORE INSERT ON job
BEGIN
{{template "jobIdentity" "insert"}}
{{template "jobProgress" "insert"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_job_refuse_edited
  BEFORE UPDATE OF jid, task, group_, args, subject, submitter, submitted, priority, tracker, due, single ON job
BEGIN
{{template "jobIdentity" "update"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_job_refuse_moved
  BEFORE UPDATE OF state, retries, progress, interrupts, worker, startedmillis, started, finished, cancel, retry, result ON job
BEGIN
{{template "jobProgress" "update"}}
END;
-- +goose StatementEnd
{{end}}

{{define "joblog"}}
  SELECT CASE
    WHEN NOT {{template "name" "NEW.id"}} THEN RAISE(ABORT, 'joblog: id {{template "isName"}}')
    WHEN NOT {{template "name" "NEW.jid"}} THEN RAISE(ABORT, 'joblog: jid {{template "isName"}}')
    WHEN NOT {{template "name" "NEW.level"}} THEN RAISE(ABORT, 'joblog: level must be text: debug, info, warn or error')
    WHEN NOT {{template "time" "NEW.created"}} THEN RAISE(ABORT, 'joblog: created {{template "isTime"}}')
    WHEN NOT {{template "long" "NEW.message"}} THEN RAISE(ABORT, 'joblog: message {{template "isLong"}}')
    WHEN typeof(NEW.counter) NOT IN ('integer', 'null') THEN RAISE(ABORT, 'joblog: counter must be an integer, or NULL')
  END;
{{end}}
{{if not (found "joblog")}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_joblog_refuse_added BEFORE INSERT ON joblog
BEGIN
{{template "joblog"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_joblog_refuse_edited BEFORE UPDATE ON joblog
BEGIN
{{template "joblog"}}
END;
-- +goose StatementEnd
{{end}}

{{define "event"}}
  SELECT CASE
    WHEN NOT {{template "name" "NEW.id"}} THEN RAISE(ABORT, 'event_store: id {{template "isName"}}')
    WHEN NOT {{template "name" "NEW.topic"}} THEN RAISE(ABORT, 'event_store: topic {{template "isName"}}')
    WHEN NOT {{template "name" "NEW.type"}} THEN RAISE(ABORT, 'event_store: type {{template "isName"}}')
    WHEN NOT {{template "name" "NEW.aggregate_id"}} THEN RAISE(ABORT, 'event_store: aggregate_id {{template "isName"}}')
    WHEN typeof(NEW.aggregate_version) <> 'integer' THEN RAISE(ABORT, 'event_store: aggregate_version must be an integer')
    WHEN NOT {{template "long" "NEW.payload"}} THEN RAISE(ABORT, 'event_store: payload {{template "isLong"}}')
    WHEN NEW.due IS NOT NULL AND NOT {{template "time" "NEW.due"}} THEN RAISE(ABORT, 'event_store: due {{template "isTime"}}, or NULL')
    WHEN NOT {{template "time" "NEW.created"}} THEN RAISE(ABORT, 'event_store: created {{template "isTime"}}')
  END;
{{end}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_event_refuse_added BEFORE INSERT ON event_store
BEGIN
{{template "event"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_event_refuse_edited
  BEFORE UPDATE OF id, topic, type, aggregate_id, aggregate_version, payload, due, created ON event_store
BEGIN
{{template "event"}}
END;
-- +goose StatementEnd

{{define "message"}}
  SELECT CASE
    WHEN {{if eq . "update"}}NEW.event_id IS NOT OLD.event_id AND {{end}}NOT {{template "name" "NEW.event_id"}} THEN RAISE(ABORT, 'outbox_message: event_id {{template "isName"}}')
    WHEN {{if eq . "update"}}NEW.topic IS NOT OLD.topic AND {{end}}NOT {{template "name" "NEW.topic"}} THEN RAISE(ABORT, 'outbox_message: topic {{template "isName"}}')
    WHEN {{if eq . "update"}}NEW.created IS NOT OLD.created AND {{end}}NOT {{template "time" "NEW.created"}} THEN RAISE(ABORT, 'outbox_message: created {{template "isTime"}}')
    WHEN {{if eq . "update"}}NEW.attempts IS NOT OLD.attempts AND {{end}}NOT {{template "integer" "NEW.attempts"}} THEN RAISE(ABORT, 'outbox_message: attempts {{template "isInteger"}}')
    WHEN {{if eq . "update"}}NEW.refusals IS NOT OLD.refusals AND {{end}}NOT {{template "integer" "NEW.refusals"}} THEN RAISE(ABORT, 'outbox_message: refusals {{template "isInteger"}}')
    WHEN {{if eq . "update"}}NEW.published IS NOT OLD.published AND {{end}}NEW.published IS NOT NULL AND NOT {{template "time" "NEW.published"}} THEN RAISE(ABORT, 'outbox_message: published {{template "isTime"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.retry IS NOT OLD.retry AND {{end}}NEW.retry IS NOT NULL AND NOT {{template "time" "NEW.retry"}} THEN RAISE(ABORT, 'outbox_message: retry {{template "isTime"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.dead IS NOT OLD.dead AND {{end}}NEW.dead IS NOT NULL AND NOT {{template "time" "NEW.dead"}} THEN RAISE(ABORT, 'outbox_message: dead {{template "isTime"}}, or NULL')
    WHEN {{if eq . "update"}}NEW.problem IS NOT OLD.problem AND {{end}}NEW.problem IS NOT NULL AND NOT {{template "long" "NEW.problem"}} THEN RAISE(ABORT, 'outbox_message: problem {{template "isLong"}}, or NULL')
  END;
{{end}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_message_refuse_added BEFORE INSERT ON outbox_message
BEGIN
{{template "message" "insert"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_message_refuse_edited BEFORE UPDATE ON outbox_message
BEGIN
{{template "message" "update"}}
END;
-- +goose StatementEnd

-- What edits of tasks do ----------------------------------------------------------------------------------------------

-- A task is planned from the time of its INSERT on. Times in other accepted forms are stored in the one form, and args that
-- are not JSON get a warning.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_added AFTER INSERT ON periodic_task
  WHEN NEW.since IS NULL
    OR NOT ({{template "canonical" "NEW.nextrun"}} AND {{template "canonical" "NEW.created"}}
            AND {{template "canonicalOrNull" "NEW.starts"}} AND {{template "canonicalOrNull" "NEW.ends"}}
            AND {{template "canonicalOrNull" "NEW.paused"}} AND {{template "canonicalOrNull" "NEW.paused_until"}}
            AND json_valid(NEW.args))
BEGIN
  UPDATE periodic_task
     SET since = coalesce(NEW.since, strftime('%Y-%m-%d %H:%M:%f000', 'now')),
         problem = CASE WHEN NOT json_valid(NEW.args) THEN 'warning: args is not JSON' END,
         nextrun = {{template "utc" "NEW.nextrun"}},
         created = {{template "utc" "NEW.created"}},
         starts  = {{template "utcOrNull" "NEW.starts"}},
         ends    = {{template "utcOrNull" "NEW.ends"}},
         paused  = {{template "utcOrNull" "NEW.paused"}},
         paused_until = {{template "utcOrNull" "NEW.paused_until"}}
   WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- What an edit does: see postgres/00001_schema.sql. A scheduler's own updates change `due`, or only columns that are
-- not named here. A row whose old times are not in the one form is just being added.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_edited
  AFTER UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, created, summary,
                  starts, ends, exclude_calendars, overlap, catchup, catchup_limit, grace, deadline, jitter, sink, retry_limit,
                  retry_delay, timeout, pause_after, paused, paused_until ON periodic_task
  WHEN NEW.due IS OLD.due
   AND {{template "canonical" "OLD.nextrun"}} AND {{template "canonical" "OLD.created"}}
   AND {{template "canonicalOrNull" "OLD.starts"}} AND {{template "canonicalOrNull" "OLD.ends"}}
   AND {{template "canonicalOrNull" "OLD.paused"}} AND {{template "canonicalOrNull" "OLD.paused_until"}}
   AND (NEW.enabled IS NOT OLD.enabled OR NEW.nextrun IS NOT OLD.nextrun OR NEW.timer IS NOT OLD.timer
     OR NEW.id IS NOT OLD.id OR NEW.task IS NOT OLD.task OR NEW.group_ IS NOT OLD.group_
     OR NEW.subject IS NOT OLD.subject OR NEW.submitter IS NOT OLD.submitter OR NEW.priority IS NOT OLD.priority
     OR NEW.created IS NOT OLD.created OR NEW.summary IS NOT OLD.summary OR NEW.starts IS NOT OLD.starts
     OR NEW.ends IS NOT OLD.ends OR NEW.exclude_calendars IS NOT OLD.exclude_calendars OR NEW.overlap IS NOT OLD.overlap OR NEW.catchup IS NOT OLD.catchup
     OR NEW.catchup_limit IS NOT OLD.catchup_limit OR NEW.pause_after IS NOT OLD.pause_after OR NEW.retry_limit IS NOT OLD.retry_limit
     OR NEW.retry_delay IS NOT OLD.retry_delay OR NEW.timeout IS NOT OLD.timeout
     OR NEW.grace IS NOT OLD.grace OR NEW.deadline IS NOT OLD.deadline OR NEW.jitter IS NOT OLD.jitter
     OR NEW.sink IS NOT OLD.sink OR NEW.paused IS NOT OLD.paused OR NEW.paused_until IS NOT OLD.paused_until
     OR NEW.args IS NOT OLD.args)
BEGIN
  UPDATE periodic_task
     SET worker = NULL, marked = NULL, rev = {{template "rev" "OLD.rev"}},
         problem = CASE WHEN NOT json_valid(NEW.args) THEN 'warning: args is not JSON' END,
         created = {{template "utc" "NEW.created"}},
         starts  = {{template "utcOrNull" "NEW.starts"}},
         ends    = {{template "utcOrNull" "NEW.ends"}},
         since = CASE WHEN NEW.timer IS NOT OLD.timer OR NEW.starts IS NOT OLD.starts OR NEW.ends IS NOT OLD.ends
             OR NEW.jitter IS NOT OLD.jitter OR NEW.enabled IS NOT OLD.enabled OR NEW.nextrun IS NOT OLD.nextrun
             OR NEW.created IS NOT OLD.created OR NEW.sink IS NOT OLD.sink OR coalesce(OLD.due >= '9999-12-31 23:59:59', 0)
           THEN strftime('%Y-%m-%d %H:%M:%f000', 'now') ELSE NEW.since END,
         (nextrun, due) = (SELECT
           CASE WHEN moved THEN utc WHEN anew THEN '1970-01-01 00:00:00.000000' ELSE OLD.nextrun END,
           CASE WHEN moved OR anew THEN NULL ELSE OLD.due END
           FROM (SELECT utc, utc IS NOT OLD.nextrun AS moved,
                   NEW.timer IS NOT OLD.timer OR NEW.starts IS NOT OLD.starts OR NEW.ends IS NOT OLD.ends OR NEW.jitter IS NOT OLD.jitter
                   OR (NEW.enabled AND NOT OLD.enabled)
                   OR coalesce(OLD.due >= '9999-12-31 23:59:59', 0) AS anew
                 FROM (SELECT {{template "utc" "NEW.nextrun"}} AS utc))),
         resumed       = CASE WHEN NEW.paused IS NULL AND OLD.paused IS NOT NULL THEN strftime('%Y-%m-%d %H:%M:%f000', 'now') ELSE NEW.resumed END,
         paused_by     = CASE WHEN NEW.paused IS NOT NULL OR OLD.paused IS NULL THEN NEW.paused_by END,
         paused_reason = CASE WHEN NEW.paused IS NOT NULL OR OLD.paused IS NULL THEN NEW.paused_reason END,
         (paused, paused_until) = (SELECT since,
           CASE WHEN since IS NULL AND OLD.paused IS NOT NULL THEN NULL
                WHEN since IS NOT OLD.paused AND till <= since AND till IS OLD.paused_until THEN NULL
                ELSE till END
           FROM (SELECT {{template "utcOrNull" "NEW.paused"}} AS since, {{template "utcOrNull" "NEW.paused_until"}} AS till))
   WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- Ticks that are skipped ahead are those of this timer and this id. A run that is set by hand takes the place of those up to it.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_unskips AFTER UPDATE OF id, timer, nextrun ON periodic_task
  WHEN NEW.id IS NOT OLD.id OR NEW.timer IS NOT OLD.timer
    OR NEW.due IS OLD.due AND NEW.nextrun IS NOT OLD.nextrun AND NEW.nextrun > '1970-01-02'
BEGIN
  DELETE FROM periodic_tick
   WHERE task_id = OLD.id AND decided IS NULL
     AND (NEW.id IS NOT OLD.id OR NEW.timer IS NOT OLD.timer
          OR due > strftime('%Y-%m-%d %H:%M:%f000', 'now') AND due <= {{template "utc" "NEW.nextrun"}});
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_deleted AFTER DELETE ON periodic_task
BEGIN
  DELETE FROM periodic_tick WHERE task_id = OLD.id AND decided IS NULL;
END;
-- +goose StatementEnd

-- What ticks and the ends of jobs do ----------------------------------------------------------------------------------

-- A tick to come is skipped by a row that is not decided yet. Its time is stored with microseconds, as those of schedulers are.
-- +goose StatementBegin
CREATE TRIGGER nextrun_tick_skipped AFTER INSERT ON periodic_tick WHEN NEW.decided IS NULL
BEGIN
  SELECT RAISE(ABORT, 'periodic_tick: there is no such task; use the id of a row of periodic_task')
   WHERE NOT EXISTS (SELECT 1 FROM periodic_task WHERE id = NEW.task_id);
  SELECT RAISE(ABORT, 'periodic_tick: due is no time; use YYYY-MM-DD HH:MM:SS in UTC') WHERE {{template "utc" "NEW.due"}} IS NULL;
  SELECT RAISE(ABORT, 'periodic_tick: due is in the past, so no tick can be skipped then; name one to come, in UTC')
   WHERE {{template "utc" "NEW.due"}} <= strftime('%Y-%m-%d %H:%M:%f000', 'now')
     AND {{template "utc" "NEW.due"}} IS NOT (SELECT due FROM periodic_task WHERE id = NEW.task_id);
  UPDATE periodic_tick SET due = {{template "utc" "NEW.due"}} WHERE task_id = NEW.task_id AND due = NEW.due;
  UPDATE periodic_task SET rev = {{template "rev" "rev"}} WHERE id = NEW.task_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_tick_unskipped AFTER DELETE ON periodic_tick WHEN OLD.decided IS NULL
BEGIN
  UPDATE periodic_task SET rev = {{template "rev" "rev"}} WHERE id = OLD.task_id;
END;
-- +goose StatementEnd

-- What became of a job that is deleted stays in its tick.
-- +goose StatementBegin
CREATE TRIGGER nextrun_job_deleted AFTER DELETE ON job WHEN OLD.tracker IS NOT NULL AND OLD.due IS NOT NULL
BEGIN
  UPDATE periodic_tick
     SET outcome = CASE WHEN OLD.state IN ('success', 'failed', 'cancelled') THEN OLD.state WHEN OLD.state = 'waiting' THEN 'cancelled' ELSE 'unknown' END,
         finished = OLD.finished, attempts = CASE WHEN OLD.started IS NOT NULL THEN OLD.retries + 1 END,
         error = CASE WHEN OLD.state = 'failed' THEN substr(OLD.result, 1, 1000) END
   WHERE task_id = OLD.tracker AND due = OLD.due AND jid = OLD.jid;
END;
-- +goose StatementEnd

-- Views ---------------------------------------------------------------------------------------------------------------

{{/* Of a tick k, its job j and its message m. SQLite 3.37 would read all of periodic_run to join it. */}}
{{define "runState"}}coalesce(j.state, CASE k.outcome WHEN 'gone' THEN 'success' ELSE k.outcome END,
                CASE WHEN m.dead IS NOT NULL THEN 'failed' WHEN m.published IS NOT NULL THEN 'success' WHEN m.id IS NOT NULL THEN 'pending' END){{end}}
{{define "runFinished"}}coalesce(j.finished, k.finished, m.published, m.dead){{end}}
{{define "runResult"}}coalesce(j.result, k.error, m.problem){{end}}
{{define "runJoins"}}LEFT JOIN job AS j ON j.jid = k.jid LEFT JOIN outbox_message AS m ON m.event_id = k.jid{{end}}

CREATE VIEW periodic_run AS
SELECT k.task_id, k.due, k.decision, k.cause, k.reason, k.missed, k.until, k.jid, k.worker, k.decided,
       {{template "runState"}} AS state, j.submitted, j.started, {{template "runFinished"}} AS finished,
       coalesce(CASE WHEN j.started IS NOT NULL THEN j.retries + CASE WHEN j.state IN ('waiting', 'stuck') THEN 0 ELSE 1 END END, k.attempts, m.attempts) AS attempts, j.interrupts,
       {{template "runResult"}} AS result, j.worker AS executor
  FROM periodic_tick AS k {{template "runJoins"}}
 WHERE k.decided IS NOT NULL;

-- Intervals are seconds. Values that nobody writes, such as a number with 19 digits, hide no other rows.
CREATE VIEW periodic_health AS
SELECT t.id, t.enabled, t.timer, t.nextrun, t.problem,
       CASE WHEN t.enabled AND max(t.nextrun, t.since) < strftime('%Y-%m-%d %H:%M:%f', 'now', '-5 seconds')
             AND NOT (t.overlap IN ('queue', 'replace') AND (EXISTS (SELECT 1 FROM periodic_open AS o WHERE o.task_id = t.id AND o.ended IS NULL)
                      OR EXISTS (SELECT 1 FROM job AS p WHERE p.tracker = t.id AND p.state IN ('waiting', 'scheduled', 'running', 'stuck'))))
            THEN round((julianday('now') - julianday(max(t.nextrun, t.since))) * 86400.0, 3) END AS overdue,
       k.due AS last_due, k.decision AS last_decision, k.cause AS last_cause, {{template "runState"}} AS last_state, {{template "runFinished"}} AS last_finished,
       (SELECT count(*) FROM periodic_tick AS d WHERE d.task_id = t.id AND d.decision = 'submitted'
           AND d.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS submitted_24h,
       (SELECT count(*) FROM periodic_tick AS d WHERE d.task_id = t.id AND d.decision = 'skipped' AND d.decided IS NOT NULL
           AND d.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS skipped_24h,
       (SELECT count(*) FROM periodic_tick AS d WHERE d.task_id = t.id AND d.decision = 'late'
           AND d.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS late_24h,
       (SELECT coalesce(sum(CASE WHEN d.missed BETWEEN -2147483648 AND 2147483647 THEN abs(d.missed) END), 0)
          FROM periodic_tick AS d WHERE d.task_id = t.id AND d.decision = 'missed'
           AND d.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS missed_24h,
       CASE WHEN {{template "runState"}} IN ('failed', 'stuck', 'cancelled', 'unknown') THEN {{template "runResult"}} END AS last_error
  FROM periodic_task AS t
  LEFT JOIN periodic_tick AS k ON k.task_id = t.id
        AND k.due = (SELECT max(d.due) FROM periodic_tick AS d WHERE d.task_id = t.id AND d.decided IS NOT NULL)
  {{template "runJoins"}};

-- The rule of the alert NextrunTaskStale, as far as SQL knows: it cannot read timers, so of
-- ticks that nobody has decided it sees the planned one only. It looks for the tick that must
-- have succeeded among those that are old enough, not among the newest ones, which are all too
-- young if a task runs every few seconds. A submission counts as success where nobody can tell
-- how the job ends: it has no outcome, and none is awaited.
-- What calendars and people leave out need not succeed. A tick may be as late as its jitter.
-- A task whose newest tick succeeded, and which is not due, is not looked at any closer: most are so.
CREATE VIEW periodic_stale AS
WITH usual AS MATERIALIZED (
  -- Of the ten newest successes among the last 1,000 ticks, the median time from the
  -- submission of the job to the success, in seconds, and the latest.
  SELECT t.id, t.task, t.group_, t.timer, t.sink, t.due, t.jitter AS delay, coalesce((
      SELECT took FROM (
        SELECT took, row_number() OVER (ORDER BY took) AS n, count(*) OVER () AS runs
          FROM (SELECT (julianday(last.finished) - julianday(last.decided)) * 86400.0 AS took
                  FROM (SELECT r.due, r.decision, r.decided, r.state, r.finished FROM periodic_run AS r WHERE r.task_id = t.id ORDER BY r.due DESC LIMIT 1000) AS last
                 WHERE last.decision = 'submitted' AND t.sink <> 'event' AND last.state = 'success' AND last.finished >= last.decided
                 ORDER BY last.due DESC LIMIT 10))
       WHERE n = runs / 2 + 1), 0) AS usual, (
      SELECT max(done) FROM (
        SELECT coalesce(last.finished, last.decided) AS done
          FROM (SELECT r.due, r.decision, r.decided, r.state, r.finished FROM periodic_run AS r WHERE r.task_id = t.id ORDER BY r.due DESC LIMIT 1000) AS last
         WHERE last.decision = 'submitted'
           AND CASE WHEN t.sink <> 'event' AND last.state IS NOT NULL THEN last.state = 'success'
                    ELSE t.sink <> 'job' AND NOT EXISTS (SELECT 1 FROM periodic_open AS a WHERE a.tells AND a.task_id = t.id AND a.due = last.due) END
         ORDER BY last.due DESC LIMIT 10)) AS last_success
    FROM periodic_task AS t
   WHERE t.enabled AND (t.paused IS NULL OR t.paused_until <= strftime('%Y-%m-%d %H:%M:%f', 'now'))
     AND (t.due <= strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds')
          OR (SELECT r.state FROM periodic_run AS r WHERE r.task_id = t.id ORDER BY r.due DESC LIMIT 1) IS NOT 'success')
), task AS MATERIALIZED (
  SELECT *, strftime('%Y-%m-%d %H:%M:%f', 'now', printf('-%.3f seconds', 60 + delay + 2 * usual)) AS by_now FROM usual
), judged AS MATERIALIZED (
  -- The newest tick that must have succeeded by now. One of a pause need not, nor one
  -- of which nobody knows what became.
  SELECT t.*, coalesce(t.due <= t.by_now, 0) AS untaken,
      CASE WHEN t.due <= t.by_now THEN t.due ELSE (
        SELECT max(CASE WHEN last.until <= t.by_now THEN last.until ELSE last.due END)
          FROM (SELECT r.due, r.until, r.decision, r.cause, r.state FROM periodic_run AS r WHERE r.task_id = t.id AND r.due <= t.by_now ORDER BY r.due DESC LIMIT 10) AS last
         WHERE CASE last.decision WHEN 'skipped' THEN coalesce(last.cause, '') NOT IN ('paused', 'calendar', 'person')
                                  WHEN 'submitted' THEN t.sink <> 'job' OR last.state IS NOT NULL
                                  ELSE 1 END) END AS expected,
      EXISTS (SELECT 1 FROM (SELECT r.due, r.state FROM periodic_run AS r WHERE r.task_id = t.id AND r.due <= t.by_now ORDER BY r.due DESC LIMIT 10) AS last
               WHERE t.sink <> 'event' AND last.state IS NOT NULL
                  OR EXISTS (SELECT 1 FROM periodic_open AS a WHERE a.tells AND a.task_id = t.id AND a.due = last.due)) AS told
    FROM task AS t
)
SELECT t.id, t.task, t.group_, t.timer, t.expected, t.last_success,
       CASE WHEN t.sink = 'job' OR t.told THEN 'job' ELSE 'submission' END AS judged_by,
       k.decision, k.cause, {{template "runState"}} AS state
  FROM judged AS t
  LEFT JOIN periodic_tick AS k ON NOT t.untaken AND k.task_id = t.id
        AND k.due = (SELECT max(d.due) FROM periodic_tick AS d WHERE d.task_id = t.id AND d.due <= t.expected AND d.decided IS NOT NULL)
  {{template "runJoins"}}
 WHERE t.expected IS NOT NULL
   AND (t.untaken OR t.last_success IS NULL OR t.last_success < t.expected)
 ORDER BY t.expected;

-- +goose Down
-- The way down follows from the way up: see migrations/objects.go.
