-- The schema of nextrun. Tables that were there before nextrun came, such as Docspell's,
-- get nextrun's columns; `found` names them, and what was found is never dropped (see the
-- package comment of migrations).
--
-- Functions of triggers find nextrun's tables whatever search_path the writer has: pg_dump
-- and postgres_fdw empty it, and many applications leave it at "public". They look for
-- operators, types and functions in pg_catalog only: whoever may create in nextrun's schema,
-- as everybody may in the schema public of PostgreSQL 13 and 14, could make an operator for
-- varchar, which fits ids better than the one of PostgreSQL for text. Functions that write to
-- tables of the scheduler run with the rights of their owner, so that a role may edit tasks or
-- end jobs without any right on those tables. Nobody else may attach such a function to a table.
--
-- Each kind of change has a trigger of its own. One for several would have no WHEN, which can name neither OLD of an
-- INSERT nor NEW of a DELETE, and its function would be called for each row of each batch.

-- +goose Up
CREATE TABLE nextrun_found (
  name varchar(254) NOT NULL PRIMARY KEY
);
COMMENT ON TABLE nextrun_found IS 'what existed before nextrun; migrate down leaves it alone';
INSERT INTO nextrun_found (name) VALUES ('{{file}}');
{{range foundNames}}
INSERT INTO nextrun_found (name) VALUES ('{{.}}');
{{end}}

-- Tasks ---------------------------------------------------------------------------------------------------------------

-- The table of Docspell's ADR 0012, and below it nextrun's own columns.
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
) WITH (fillfactor = 50); -- a row that moves within its page takes less of the write-ahead log
COMMENT ON COLUMN periodic_task.id        IS 'names the task; the tracker of its jobs';
COMMENT ON COLUMN periodic_task.enabled   IS 'a disabled task has no ticks';
COMMENT ON COLUMN periodic_task.task      IS 'the handler that runs its jobs; for events, the event''s type';
COMMENT ON COLUMN periodic_task.group_    IS 'the group of its jobs; for events, the topic';
COMMENT ON COLUMN periodic_task.args      IS 'input of its jobs, by convention JSON; for events, the payload';
COMMENT ON COLUMN periodic_task.subject   IS 'the subject of its jobs, for people';
COMMENT ON COLUMN periodic_task.submitter IS 'who submits its jobs, for people';
COMMENT ON COLUMN periodic_task.priority  IS '0 is low, 10 is high';
COMMENT ON COLUMN periodic_task.worker    IS 'the mark of Docspell: nextrun leaves a marked row alone';
COMMENT ON COLUMN periodic_task.marked    IS 'when it was marked, UTC; a mark expires after scheduler.lease';
COMMENT ON COLUMN periodic_task.timer     IS 'when it elapses: a calendar event, a cron expression or an interval';
COMMENT ON COLUMN periodic_task.nextrun   IS 'next submission, UTC: due + jitter. 1970-01-01: not planned yet; 9999-12-31 23:59:59: never. Set it to run the task then';
COMMENT ON COLUMN periodic_task.created   IS 'when the row was added, UTC; an interval without a start counts from its full second';
COMMENT ON COLUMN periodic_task.summary   IS 'what the task is for, for people';
{{else if not (found "periodic_task.summary")}}
ALTER TABLE periodic_task ADD COLUMN summary varchar(254);
{{end}}
{{range withoutDefault "periodic_task"}}
ALTER TABLE periodic_task ALTER COLUMN {{.Name}} SET DEFAULT {{.Default}};
{{end}}

ALTER TABLE periodic_task
  ADD COLUMN due               timestamp,
  ADD COLUMN rev               bigint       NOT NULL DEFAULT 1,
  ADD COLUMN since             timestamp    NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
  ADD COLUMN starts            timestamp,
  ADD COLUMN ends              timestamp,
  ADD COLUMN exclude_calendars varchar(254),
  ADD COLUMN jitter            integer      NOT NULL DEFAULT 0,
  ADD COLUMN grace             integer      NOT NULL DEFAULT 60,
  ADD COLUMN catchup           varchar(16)  NOT NULL DEFAULT 'one',
  ADD COLUMN catchup_limit     integer,
  ADD COLUMN overlap           varchar(16)  NOT NULL DEFAULT 'skip',
  ADD COLUMN deadline          integer,
  ADD COLUMN sink              varchar(64)  NOT NULL DEFAULT 'job',
  ADD COLUMN retry_limit       integer,
  ADD COLUMN retry_delay       integer,
  ADD COLUMN timeout           integer,
  ADD COLUMN pause_after       integer,
  ADD COLUMN paused            timestamp,
  ADD COLUMN paused_until      timestamp,
  ADD COLUMN paused_by         varchar(254),
  ADD COLUMN paused_reason     varchar(254),
  ADD COLUMN resumed           timestamp,
  ADD COLUMN origin            varchar(254),
  ADD COLUMN problem           text;

COMMENT ON COLUMN periodic_task.due               IS 'nominal time of the planned tick, UTC; NULL: not planned yet, or somebody set nextrun';
COMMENT ON COLUMN periodic_task.rev               IS 'raised by each edit and each plan';
COMMENT ON COLUMN periodic_task.since             IS 'when the row was added, or its timer, bounds, enabled, nextrun or sink changed, UTC: it is planned from then on';
COMMENT ON COLUMN periodic_task.starts            IS 'no tick is due before it, UTC';
COMMENT ON COLUMN periodic_task.ends              IS 'no tick is due at it or later, UTC';
COMMENT ON COLUMN periodic_task.exclude_calendars IS 'names of calendars, separated by commas: no tick on their days';
COMMENT ON COLUMN periodic_task.jitter            IS 'seconds; all its ticks are later by a part of them that its id determines';
COMMENT ON COLUMN periodic_task.grace             IS 'seconds; with catchup none, an older tick is missed';
COMMENT ON COLUMN periodic_task.catchup           IS 'which missed ticks to submit: one (the newest), none (the newest, within grace), all';
COMMENT ON COLUMN periodic_task.catchup_limit     IS 'with catchup all: how many of the missed ticks, the newest, 1 to 10,000; NULL: all';
COMMENT ON COLUMN periodic_task.overlap           IS 'while a job of the task is not final: skip the tick; queue it until that job ends; replace that job; allow both';
COMMENT ON COLUMN periodic_task.deadline          IS 'seconds after due, plus jitter, after which a tick is too late; NULL: never';
COMMENT ON COLUMN periodic_task.sink              IS 'where a tick goes: job, event, or the name of a queue in the configuration';
COMMENT ON COLUMN periodic_task.retry_limit       IS 'how often a failed job is retried; NULL: as configured';
COMMENT ON COLUMN periodic_task.retry_delay       IS 'seconds before the first retry; NULL: as configured';
COMMENT ON COLUMN periodic_task.timeout           IS 'seconds that an attempt may take; NULL: as configured';
COMMENT ON COLUMN periodic_task.pause_after       IS 'pauses the task when so many of its jobs have failed in a row; NULL: never';
COMMENT ON COLUMN periodic_task.paused            IS 'since when the task is paused, UTC; NULL: it is not';
COMMENT ON COLUMN periodic_task.paused_until      IS 'when the pause ends by itself, UTC; NULL: when somebody ends it';
COMMENT ON COLUMN periodic_task.paused_by         IS 'who paused it, for people';
COMMENT ON COLUMN periodic_task.paused_reason     IS 'why it is paused, for people';
COMMENT ON COLUMN periodic_task.resumed           IS 'when somebody last ended a pause, UTC: pause_after counts failures from then on';
COMMENT ON COLUMN periodic_task.origin            IS 'the program or file that declares this row, as name or name@version';
COMMENT ON COLUMN periodic_task.problem           IS 'what is wrong with this row; if it begins with warning:, the task still runs';

-- After `migrate down` and `up` a task that had stopped, such as one with an
-- unreadable timer, looks like one that was set to the year 9999 by hand.
UPDATE periodic_task SET nextrun = '1970-01-01' WHERE nextrun >= '9999-12-31 23:59:59';

CREATE INDEX nextrun_task_due ON periodic_task (nextrun, id COLLATE "C") WHERE enabled AND worker IS NULL;
CREATE INDEX nextrun_task_marked ON periodic_task (marked) WHERE worker IS NOT NULL;

-- Days on which the tasks that name the calendar have no ticks. Schedulers read them when they decide a tick.
CREATE TABLE periodic_calendar (
  name      varchar(64) NOT NULL CONSTRAINT nextrun_calendar_name CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  first_day date        NOT NULL,
  last_day  date,
  reason    varchar(254),
  PRIMARY KEY (name, first_day),
  CONSTRAINT nextrun_calendar_range CHECK (first_day BETWEEN '1970-01-01' AND '9999-12-31' AND last_day BETWEEN '1970-01-01' AND '9999-12-31'),
  CONSTRAINT nextrun_calendar_days CHECK (last_day >= first_day)
);
COMMENT ON TABLE  periodic_calendar           IS 'days on which the tasks that name the calendar do not run';
COMMENT ON COLUMN periodic_calendar.name      IS 'of the calendar: letters, digits, ., - and _, a letter or digit first';
COMMENT ON COLUMN periodic_calendar.first_day IS 'the day, in the zone of the task''s timer';
COMMENT ON COLUMN periodic_calendar.last_day  IS 'the last of several days; NULL: first_day only';
COMMENT ON COLUMN periodic_calendar.reason    IS 'such as the name of the holiday';

-- Ticks ---------------------------------------------------------------------------------------------------------------

-- One row for each tick that fell due, made in the transaction that decides it: guarantees G1 and G2. `decided` NULL is
-- a skip that somebody has written ahead. The last four columns are about a job that is not in the table job: one of another
-- queue, or one that was deleted.
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
);
COMMENT ON TABLE periodic_tick IS 'what became of each tick that fell due, and which ticks to come are skipped';
COMMENT ON COLUMN periodic_tick.task_id  IS 'the task, which may be deleted since';
COMMENT ON COLUMN periodic_tick.due      IS 'the tick, UTC; of several missed ones, the oldest';
COMMENT ON COLUMN periodic_tick.decision IS 'submitted, skipped, late or missed';
COMMENT ON COLUMN periodic_tick.cause    IS 'why, as a code; NULL: submitted as planned, or a skip of a tick to come';
COMMENT ON COLUMN periodic_tick.reason   IS 'what a person, a calendar or the queue said';
COMMENT ON COLUMN periodic_tick.missed   IS 'how many ticks the row covers that no scheduler saw; -1: more than 10,000';
COMMENT ON COLUMN periodic_tick.until    IS 'the newest of these ticks, UTC';
COMMENT ON COLUMN periodic_tick.jid      IS 'the job or the event that was submitted';
COMMENT ON COLUMN periodic_tick.worker   IS 'the scheduler that decided';
COMMENT ON COLUMN periodic_tick.decided  IS 'when, UTC; NULL: somebody skips a tick to come';
COMMENT ON COLUMN periodic_tick.outcome  IS 'how a job in another queue, or one that was deleted, ended: success, failed, cancelled, gone (a success) or unknown';
COMMENT ON COLUMN periodic_tick.finished IS 'when that job ended, or was seen to have ended, UTC';
COMMENT ON COLUMN periodic_tick.attempts IS 'how often that job was tried';
COMMENT ON COLUMN periodic_tick.error    IS 'what its worker said, the first 1,000 characters';
CREATE INDEX nextrun_tick_skips ON periodic_tick (task_id, due) WHERE decided IS NULL;
CREATE INDEX nextrun_tick_decided ON periodic_tick USING brin (decided);

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
);
COMMENT ON TABLE  periodic_open       IS 'jobs in queues that are not nextrun''s own whose end is not recorded yet; to end the wait for a job, delete its row';
COMMENT ON COLUMN periodic_open.task_id   IS 'the task';
COMMENT ON COLUMN periodic_open.due       IS 'the tick, UTC';
COMMENT ON COLUMN periodic_open.sink      IS 'the queue';
COMMENT ON COLUMN periodic_open.ref       IS 'the job''s id in that queue';
COMMENT ON COLUMN periodic_open.jid       IS 'the job''s id in periodic_tick';
COMMENT ON COLUMN periodic_open.submitted IS 'when the job was submitted, UTC';
COMMENT ON COLUMN periodic_open.look      IS 'when a scheduler asks the queue next, UTC; a trigger on the queue''s tables may move it to the present when the job ends';
COMMENT ON COLUMN periodic_open.tells     IS 'whether the queue tells how its jobs end';
COMMENT ON COLUMN periodic_open.asked     IS 'when nextrun cancelled the job, UTC';
COMMENT ON COLUMN periodic_open.ended     IS 'since when the job is known to have ended, UTC; how is not recorded yet';
CREATE INDEX nextrun_open_look ON periodic_open (sink, look);

-- Jobs ----------------------------------------------------------------------------------------------------------------

-- The queue: job, joblog and jobgroupuse as Docspell has them, and nextrun's own columns.
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
COMMENT ON COLUMN job.jid           IS 'the job''s id';
COMMENT ON COLUMN job.task          IS 'the handler that runs it';
COMMENT ON COLUMN job.group_        IS 'groups take turns';
COMMENT ON COLUMN job.args          IS 'input of the handler, by convention JSON';
COMMENT ON COLUMN job.subject       IS 'what the job is about, for people';
COMMENT ON COLUMN job.submitted     IS 'when it was submitted, or put back by hand, UTC; older jobs go first';
COMMENT ON COLUMN job.submitter     IS 'who submitted it, for people';
COMMENT ON COLUMN job.priority      IS '0 is low, 10 is high';
COMMENT ON COLUMN job.state         IS 'waiting, scheduled, running, stuck, success, failed or cancelled';
COMMENT ON COLUMN job.retries       IS 'how often it was retried after an error';
COMMENT ON COLUMN job.progress      IS 'percent, as the handler reports it';
COMMENT ON COLUMN job.tracker       IS 'the periodic task''s id, or any name you choose';
COMMENT ON COLUMN job.worker        IS 'the executor that has, or had, the job: its name and a random id';
COMMENT ON COLUMN job.started       IS 'start of the last attempt, UTC';
COMMENT ON COLUMN job.startedmillis IS 'started in milliseconds since 1970';
COMMENT ON COLUMN job.finished      IS 'when the job became final, UTC';
{{end}}

ALTER TABLE job
  ADD COLUMN due         timestamp,
  ADD COLUMN single      boolean NOT NULL DEFAULT false,
  ADD COLUMN cancel      timestamp,
  ADD COLUMN retry       timestamp,
  ADD COLUMN result      text,
  ADD COLUMN interrupts  integer NOT NULL DEFAULT 0,
  ADD COLUMN retry_limit integer CONSTRAINT nextrun_job_retry_limit CHECK (retry_limit BETWEEN 0 AND 1000000),
  ADD COLUMN retry_delay integer CONSTRAINT nextrun_job_retry_delay CHECK (retry_delay BETWEEN 1 AND 31536000),
  ADD COLUMN timeout     integer CONSTRAINT nextrun_job_timeout CHECK (timeout BETWEEN 1 AND 31536000),
  ADD COLUMN traceparent text;
{{range withoutDefault "job"}}
ALTER TABLE job ALTER COLUMN {{.Name}} SET DEFAULT {{.Default}};
{{end}}

COMMENT ON COLUMN job.due         IS 'the tick of the periodic task (tracker) that this job is for, UTC';
COMMENT ON COLUMN job.single      IS 'if true, at most one such job per tracker is not final';
COMMENT ON COLUMN job.cancel      IS 'when somebody asked to cancel it, UTC';
COMMENT ON COLUMN job.retry       IS 'a waiting job does not begin before this time, a stuck one is retried then, UTC';
COMMENT ON COLUMN job.result      IS 'the handler''s result, or the error';
COMMENT ON COLUMN job.interrupts  IS 'how often its worker died, or lost it, while it ran';
COMMENT ON COLUMN job.retry_limit IS 'how often it is retried after an error; NULL: as configured';
COMMENT ON COLUMN job.retry_delay IS 'seconds before the first retry; NULL: as configured';
COMMENT ON COLUMN job.timeout     IS 'seconds that an attempt may take; NULL: as configured';
-- It has no bounds: what is no traceparent is ignored.
COMMENT ON COLUMN job.traceparent IS 'the W3C traceparent of who submitted the job';

-- Guarantee G3: of the single jobs of a tracker one at most is not final. The
-- same index finds the pending jobs of any tracker, single or not.
CREATE UNIQUE INDEX nextrun_job_pending ON job (tracker, (CASE WHEN single THEN '' ELSE jid END))
  WHERE state IN ('waiting', 'scheduled', 'running', 'stuck') AND tracker IS NOT NULL;
-- A claim skips from one group to the next for each of its tasks, and within a
-- group it distinguishes jobs of high and of low priority only. So neither many
-- groups, nor many priorities, nor jobs of other tasks slow it down. Jobs that
-- wait for a time are not in the index of those that can be claimed.
CREATE INDEX nextrun_job_waiting ON job (task COLLATE "C", group_ COLLATE "C", (priority > 5), submitted, jid)
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
  counter bigserial
);
COMMENT ON COLUMN joblog.id      IS 'a UUID';
COMMENT ON COLUMN joblog.jid     IS 'the job';
COMMENT ON COLUMN joblog.level   IS 'debug, info, warn or error';
COMMENT ON COLUMN joblog.created IS 'when it was written, UTC';
COMMENT ON COLUMN joblog.message IS 'one line';
COMMENT ON COLUMN joblog.counter IS 'the order of a job''s lines, from 1';
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

CREATE TABLE job_limit (
  kind varchar(16)  NOT NULL CONSTRAINT nextrun_limit_kind CHECK (kind IN ('group', 'handler', 'task')),
  name varchar(254) NOT NULL,
  max  integer      NOT NULL CONSTRAINT nextrun_limit_max CHECK (max BETWEEN 0 AND 1000000),
  PRIMARY KEY (kind, name)
);
COMMENT ON TABLE  job_limit      IS 'how many jobs of a group, a handler or a periodic task run at once, over all executors; 0 is a pause';
COMMENT ON COLUMN job_limit.kind IS 'what the limit is of: group, handler or task';
COMMENT ON COLUMN job_limit.name IS 'of the group or the handler; the id of the task';
COMMENT ON COLUMN job_limit.max  IS 'how many; 0: none begins';

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
COMMENT ON TABLE  scheduler_lock           IS 'one row for each lock that somebody holds: DELETE releases the lock; and one for each topic that a relay holds, topic:NAME';
COMMENT ON COLUMN scheduler_lock.name      IS 'the lock, as schedulers are configured; of a topic, topic: and its name';
COMMENT ON COLUMN scheduler_lock.holder    IS 'the scheduler or relay that holds it: its name and a random id';
COMMENT ON COLUMN scheduler_lock.hostname  IS 'its host, for people; empty of a relay';
COMMENT ON COLUMN scheduler_lock.pid       IS 'its process there, for people; 0 of a relay';
COMMENT ON COLUMN scheduler_lock.token     IS 'a random number, another one each time that somebody takes the lock';
COMMENT ON COLUMN scheduler_lock.acquired  IS 'when the holder took it, UTC';
COMMENT ON COLUMN scheduler_lock.heartbeat IS 'when the holder last renewed it, UTC';
COMMENT ON COLUMN scheduler_lock.expires   IS 'when others may take it, UTC';
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
COMMENT ON TABLE  worker             IS 'schedulers, executors and relays that run, and what they can do';
COMMENT ON COLUMN worker.id          IS 'name@random, another one at each start, as in marks, jobs, locks and leases';
COMMENT ON COLUMN worker.kind        IS 'scheduler, executor or relay';
COMMENT ON COLUMN worker.version     IS 'version of the program';
COMMENT ON COLUMN worker.started     IS 'when it started, UTC';
COMMENT ON COLUMN worker.beat        IS 'one more each time it says that it lives: every 2 s while jobs run, otherwise every 30 s';
COMMENT ON COLUMN worker.seen        IS 'when it last did, UTC; for people: no clock decides who has died';
COMMENT ON COLUMN worker.places      IS 'how many jobs an executor runs at once';
COMMENT ON COLUMN worker.only_groups IS 'JSON list: the only groups of which an executor takes jobs; NULL: of all';
COMMENT ON COLUMN worker.handlers    IS 'JSON list of the handlers of an executor: name, attempts (how often it tries a job at most)';
COMMENT ON COLUMN worker.zones       IS 'JSON object: the zones that the timers of a scheduler have named, each with a fingerprint of its rules';
COMMENT ON COLUMN worker.trouble     IS 'the error that keeps a scheduler from its work at present, if there is one';

-- Events --------------------------------------------------------------------------------------------------------------

-- Events instead of jobs: the store of events, and the outbox of messages that a relay publishes.
CREATE TABLE event_store (
  seq               bigint       NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id                varchar(254) NOT NULL UNIQUE,
  topic             varchar(254) NOT NULL,
  type              varchar(254) NOT NULL,
  aggregate_id      varchar(254) NOT NULL,
  aggregate_version bigint       NOT NULL CONSTRAINT nextrun_version_positive CHECK (aggregate_version > 0),
  payload           text         NOT NULL DEFAULT '{}',
  due               timestamp,
  created           timestamp    NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
  traceparent       text,
  CONSTRAINT nextrun_event_version UNIQUE (aggregate_id, aggregate_version)
);
COMMENT ON TABLE  event_store IS 'what happened; rows are never changed';
COMMENT ON COLUMN event_store.seq               IS 'order of appending; transactions may commit in another one';
COMMENT ON COLUMN event_store.id                IS 'a UUID, by which receivers recognize duplicates';
COMMENT ON COLUMN event_store.topic             IS 'the topic';
COMMENT ON COLUMN event_store.type              IS 'what happened';
COMMENT ON COLUMN event_store.aggregate_id      IS 'what the event is about; for events of tasks, the task''s id';
COMMENT ON COLUMN event_store.aggregate_version IS 'counts 1, 2, 3, ... within the aggregate, without gaps';
COMMENT ON COLUMN event_store.payload           IS 'the data';
COMMENT ON COLUMN event_store.due               IS 'the tick of the periodic task (aggregate_id) that this event is for, UTC';
COMMENT ON COLUMN event_store.created           IS 'when it was written, UTC';
COMMENT ON COLUMN event_store.traceparent       IS 'the W3C traceparent of who appended the event';

-- Guarantee G1: at most one event for each tick of a task.
CREATE UNIQUE INDEX nextrun_event_due ON event_store (aggregate_id, due) WHERE due IS NOT NULL;
CREATE INDEX nextrun_event_topic ON event_store (topic, seq);

CREATE TABLE event_aggregate (
  id      varchar(254) NOT NULL PRIMARY KEY,
  version bigint       NOT NULL
);
COMMENT ON TABLE event_aggregate IS 'the version of the newest event of each aggregate';

CREATE TABLE outbox_message (
  id        bigint       NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  event_id  varchar(254) NOT NULL UNIQUE REFERENCES event_store (id),
  topic     varchar(254) NOT NULL,
  created   timestamp    NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
  published timestamp,
  attempts  integer      NOT NULL DEFAULT 0,
  refusals  integer      NOT NULL DEFAULT 0,
  problem   text,
  retry     timestamp,
  dead      timestamp
);
COMMENT ON COLUMN outbox_message.id        IS 'order of publishing within a topic';
COMMENT ON COLUMN outbox_message.event_id  IS 'the event';
COMMENT ON COLUMN outbox_message.topic     IS 'its topic';
COMMENT ON COLUMN outbox_message.created   IS 'when it was written, UTC';
COMMENT ON COLUMN outbox_message.published IS 'when the receiver had accepted it, UTC';
COMMENT ON COLUMN outbox_message.attempts  IS 'failed attempts';
COMMENT ON COLUMN outbox_message.refusals  IS 'how many of them the receiver refused for good';
COMMENT ON COLUMN outbox_message.problem   IS 'why the last attempt failed';
COMMENT ON COLUMN outbox_message.retry     IS 'not retried before, UTC';
COMMENT ON COLUMN outbox_message.dead      IS 'when it was set aside, UTC; it is not retried';
CREATE INDEX nextrun_message_pending ON outbox_message (topic, id) WHERE published IS NULL AND dead IS NULL;
CREATE INDEX nextrun_message_dead ON outbox_message (topic, id) WHERE dead IS NOT NULL;

-- What edits of tasks do ----------------------------------------------------------------------------------------------

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
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN 'warning: args is not JSON: ' || left(coalesce(nullif(detail, ''), 'it is nested too deeply'), 200);
END $$;
-- +goose StatementEnd

-- What people write into a task. An edit takes the row out of the hands of a scheduler that marked it, clears the
-- problem, and has the row planned anew where the plan may have changed: `since` says when, since what was decided
-- before followed another plan. A scheduler's own updates change `due`, or only columns that the trigger does not
-- name. No plan depends on retries and timeout, which are read when a job is submitted.
-- Values that cannot be used are refused here and not by a CHECK, so that a scheduler's own updates need not meet them, and
-- rows that were there before are left alone. A task that is resumed keeps nothing of its pause, and a new pause does
-- not end when an earlier one did.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_edited() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  first CONSTANT timestamp := '1970-01-01 00:00:00';
  last  CONSTANT timestamp := '9999-12-31 23:59:59.999999';
  wrong text;
BEGIN
  -- It was now() in a session of another zone.
  IF NEW.nextrun = LOCALTIMESTAMP THEN
    NEW.nextrun := now() AT TIME ZONE 'UTC';
  END IF;
  wrong := CASE
    WHEN NEW.nextrun IS DISTINCT FROM OLD.nextrun AND NEW.nextrun NOT BETWEEN first AND last THEN 'nextrun'
    WHEN NEW.due IS DISTINCT FROM OLD.due AND NEW.due NOT BETWEEN first AND last THEN 'due'
    WHEN NEW.starts IS DISTINCT FROM OLD.starts AND NEW.starts NOT BETWEEN first AND last THEN 'starts'
    WHEN NEW.ends IS DISTINCT FROM OLD.ends AND NEW.ends NOT BETWEEN first AND last THEN 'ends'
    WHEN NEW.paused IS DISTINCT FROM OLD.paused AND NEW.paused NOT BETWEEN first AND last THEN 'paused'
    WHEN NEW.paused_until IS DISTINCT FROM OLD.paused_until AND NEW.paused_until NOT BETWEEN first AND last THEN 'paused_until'
    WHEN (NEW.starts, NEW.ends) IS DISTINCT FROM (OLD.starts, OLD.ends) AND NEW.starts >= NEW.ends THEN 'ends'
    WHEN NEW.overlap IS DISTINCT FROM OLD.overlap AND NEW.overlap NOT IN ('skip', 'queue', 'replace', 'allow') THEN 'overlap'
    WHEN NEW.catchup IS DISTINCT FROM OLD.catchup AND NEW.catchup NOT IN ('one', 'none', 'all') THEN 'catchup'
    WHEN NEW.catchup_limit IS DISTINCT FROM OLD.catchup_limit AND NEW.catchup_limit NOT BETWEEN 1 AND 10000 THEN 'catchup_limit'
    WHEN NEW.grace IS DISTINCT FROM OLD.grace AND NEW.grace < 0 THEN 'grace'
    WHEN NEW.deadline IS DISTINCT FROM OLD.deadline AND NEW.deadline < 0 THEN 'deadline'
    WHEN NEW.jitter IS DISTINCT FROM OLD.jitter AND NEW.jitter < 0 THEN 'jitter'
    WHEN NEW.sink IS DISTINCT FROM OLD.sink AND NEW.sink !~ '^[a-z][a-z0-9_-]{0,63}$' THEN 'sink'
    WHEN NEW.retry_limit IS DISTINCT FROM OLD.retry_limit AND NEW.retry_limit NOT BETWEEN 0 AND 1000000 THEN 'retry_limit'
    WHEN NEW.retry_delay IS DISTINCT FROM OLD.retry_delay AND NEW.retry_delay NOT BETWEEN 1 AND 31536000 THEN 'retry_delay'
    WHEN NEW.timeout IS DISTINCT FROM OLD.timeout AND NEW.timeout NOT BETWEEN 1 AND 31536000 THEN 'timeout'
    WHEN NEW.pause_after IS DISTINCT FROM OLD.pause_after AND NEW.pause_after NOT BETWEEN 1 AND 1000000 THEN 'pause_after' END;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION 'periodic_task %: % % is out of range; %', NEW.id, wrong, to_jsonb(NEW) ->> wrong, CASE wrong
      WHEN 'nextrun' THEN 'use a UTC time between 1970-01-01 and 9999-12-31'
      WHEN 'due' THEN 'leave it to the scheduler; to run the task at a time set nextrun'
      WHEN 'ends' THEN 'use a UTC time after starts and before the year 10000, or NULL'
      WHEN 'overlap' THEN 'use skip, queue, replace or allow'
      WHEN 'catchup' THEN 'use one, none or all'
      WHEN 'catchup_limit' THEN 'use 1 to 10000, or NULL for all'
      WHEN 'grace' THEN 'use seconds, 0 or more'
      WHEN 'deadline' THEN 'use seconds, 0 or more, or NULL for none'
      WHEN 'jitter' THEN 'use seconds, 0 or more'
      WHEN 'sink' THEN 'use job, event or the name of a queue: at most 64 lower-case letters, digits, _ and -, a letter first'
      WHEN 'retry_limit' THEN 'use 0 to 1000000, or NULL'
      WHEN 'pause_after' THEN 'use 1 to 1000000, or NULL for never'
      WHEN 'retry_delay' THEN 'use 1 to 31536000 seconds, or NULL'
      WHEN 'timeout' THEN 'use 1 to 31536000 seconds, or NULL'
      WHEN 'paused' THEN 'to pause the task set it to the current UTC time (paused_until says when the pause ends), to resume it set it to NULL'
      ELSE 'use a UTC time between 1970-01-01 and 9999-12-31, or NULL' END
      USING ERRCODE = 'check_violation', COLUMN = wrong, TABLE = 'periodic_task';
  END IF;
  NEW.rev := greatest(OLD.rev + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  PERFORM pg_notify('nextrun_task', '');
  -- Parsing args again costs more than all the rest.
  IF NEW.args IS DISTINCT FROM OLD.args OR OLD.problem NOT LIKE 'warning: args is not JSON%' THEN
    NEW.problem := {{schema}}.nextrun_args_problem(NEW.args);
  ELSE
    NEW.problem := OLD.problem;
  END IF;
  IF TG_OP = 'INSERT' THEN
    RETURN NEW;
  END IF;

  NEW.worker := NULL;
  NEW.marked := NULL;
  IF (NEW.timer, NEW.starts, NEW.ends, NEW.jitter, NEW.enabled, NEW.nextrun, NEW.created, NEW.sink) IS DISTINCT FROM
     (OLD.timer, OLD.starts, OLD.ends, OLD.jitter, OLD.enabled, OLD.nextrun, OLD.created, OLD.sink) OR OLD.due >= '9999-12-31 23:59:59' THEN
    NEW.since := clock_timestamp() AT TIME ZONE 'UTC';
  END IF;
  IF NEW.nextrun IS DISTINCT FROM OLD.nextrun THEN
    NEW.due := NULL;
  ELSIF (NEW.timer, NEW.starts, NEW.ends, NEW.jitter) IS DISTINCT FROM (OLD.timer, OLD.starts, OLD.ends, OLD.jitter)
     OR (NEW.enabled AND NOT OLD.enabled) OR OLD.due >= '9999-12-31 23:59:59' THEN
    NEW.due := NULL;
    NEW.nextrun := first;
  END IF;
  IF (NEW.paused, NEW.paused_until) IS DISTINCT FROM (OLD.paused, OLD.paused_until) THEN
    IF NEW.paused IS NULL AND OLD.paused IS NOT NULL THEN
      NEW.resumed := clock_timestamp() AT TIME ZONE 'UTC';
      NEW.paused_until := NULL;
      NEW.paused_by := NULL;
      NEW.paused_reason := NULL;
    ELSIF NEW.paused IS DISTINCT FROM OLD.paused AND NEW.paused_until <= NEW.paused AND NEW.paused_until = OLD.paused_until THEN
      NEW.paused_until := NULL;
    END IF;
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_added BEFORE INSERT ON periodic_task
  FOR EACH ROW EXECUTE FUNCTION nextrun_task_edited();
CREATE TRIGGER nextrun_task_edited
  BEFORE UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, due, created, summary,
                   starts, ends, exclude_calendars, overlap, catchup, catchup_limit, grace, deadline, jitter, sink,
                   retry_limit, retry_delay, timeout, pause_after, paused, paused_until ON periodic_task
  FOR EACH ROW
  WHEN (NEW.nextrun NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' AND NEW.nextrun <> OLD.nextrun
     OR NEW.due NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' AND NEW.due IS DISTINCT FROM OLD.due
     OR NEW.due IS NOT DISTINCT FROM OLD.due AND (
        (NEW.enabled, NEW.nextrun, NEW.timer, NEW.id, NEW.task, NEW.group_, NEW.subject, NEW.submitter, NEW.priority,
         NEW.created, NEW.summary, NEW.starts, NEW.ends, NEW.exclude_calendars, NEW.overlap, NEW.catchup, NEW.catchup_limit, NEW.grace,
         NEW.deadline, NEW.jitter, NEW.sink, NEW.retry_limit, NEW.retry_delay, NEW.timeout, NEW.pause_after, NEW.paused, NEW.paused_until)
        IS DISTINCT FROM
        (OLD.enabled, OLD.nextrun, OLD.timer, OLD.id, OLD.task, OLD.group_, OLD.subject, OLD.submitter, OLD.priority,
         OLD.created, OLD.summary, OLD.starts, OLD.ends, OLD.exclude_calendars, OLD.overlap, OLD.catchup, OLD.catchup_limit, OLD.grace,
         OLD.deadline, OLD.jitter, OLD.sink, OLD.retry_limit, OLD.retry_delay, OLD.timeout, OLD.pause_after, OLD.paused, OLD.paused_until)
        OR NEW.args IS DISTINCT FROM OLD.args))
  EXECUTE FUNCTION nextrun_task_edited();

-- nextrun's schedulers lock the row of a task while they work on it, and write no mark. Another
-- program that marks the row, as Docspell does, waits for that lock, and then finds the row without
-- a mark, but of another time: such a mark touches no row, as if somebody else had been sooner.
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

-- Ticks that are skipped ahead are those of this timer and this id. A run that is set by hand takes the place of those up to it.
-- +goose StatementBegin
CREATE FUNCTION nextrun_task_unskips() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM {{schema}}.periodic_tick
   WHERE task_id = OLD.id AND decided IS NULL
     AND (TG_OP = 'DELETE' OR NEW.id <> OLD.id OR NEW.timer <> OLD.timer
          OR due > clock_timestamp() AT TIME ZONE 'UTC' AND due <= NEW.nextrun);
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_task_unskips AFTER UPDATE OF id, timer, nextrun ON periodic_task
  FOR EACH ROW WHEN (NEW.id <> OLD.id OR NEW.timer <> OLD.timer
                     OR NEW.due IS NULL AND NEW.nextrun <> OLD.nextrun AND NEW.nextrun > '1970-01-01 00:00:00')
  EXECUTE FUNCTION nextrun_task_unskips();
CREATE TRIGGER nextrun_task_deleted AFTER DELETE ON periodic_task
  FOR EACH ROW EXECUTE FUNCTION nextrun_task_unskips();

-- What ticks and the ends of jobs do ----------------------------------------------------------------------------------

-- A tick to come is skipped by a row that is not decided yet. A plan that was made before comes to nothing, since rev
-- is another one afterwards. The row of the task is locked before the key of the tick is taken.
-- +goose StatementBegin
CREATE FUNCTION nextrun_tick_skipped() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  planned timestamp;
  here CONSTANT bigint := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE {{schema}}.periodic_task SET rev = greatest(rev + 1, here) WHERE id = OLD.task_id;
    RETURN OLD;
  END IF;
  UPDATE {{schema}}.periodic_task SET rev = greatest(rev + 1, here) WHERE id = NEW.task_id RETURNING due INTO planned;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'periodic_tick: there is no such task, %; use the id of a row of periodic_task', NEW.task_id
      USING ERRCODE = 'foreign_key_violation', COLUMN = 'task_id', TABLE = 'periodic_tick';
  END IF;
  IF NEW.due <= clock_timestamp() AT TIME ZONE 'UTC' AND NEW.due IS DISTINCT FROM planned THEN
    RAISE EXCEPTION 'periodic_tick: % is in the past, so no tick of the task % can be skipped then; name one to come, in UTC', NEW.due, NEW.task_id
      USING ERRCODE = 'check_violation', COLUMN = 'due', TABLE = 'periodic_tick';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_tick_skipped BEFORE INSERT ON periodic_tick
  FOR EACH ROW WHEN (NEW.decided IS NULL) EXECUTE FUNCTION nextrun_tick_skipped();
CREATE TRIGGER nextrun_tick_unskipped BEFORE DELETE ON periodic_tick
  FOR EACH ROW WHEN (OLD.decided IS NULL) EXECUTE FUNCTION nextrun_tick_skipped();

-- The end of a job wakes schedulers if a tick of its task may wait for it.
-- +goose StatementBegin
CREATE FUNCTION nextrun_job_ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM {{schema}}.periodic_task WHERE id = OLD.tracker AND overlap IN ('queue', 'replace')) THEN
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_job_ended AFTER UPDATE OF state, tracker ON job
  FOR EACH ROW WHEN (OLD.tracker IS NOT NULL
                     AND OLD.state IN ('waiting', 'scheduled', 'running', 'stuck')
                     AND (NEW.state NOT IN ('waiting', 'scheduled', 'running', 'stuck')
                          OR NEW.tracker IS DISTINCT FROM OLD.tracker))
  EXECUTE FUNCTION nextrun_job_ended();

-- What became of a job that is deleted stays in its tick. One that somebody has locked, or that refuses it, is left as it is:
-- it never holds up the delete. Jobs that had not ended wake schedulers as if they had.
-- +goose StatementBegin
CREATE FUNCTION nextrun_job_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO pg_catalog, pg_temp SET lock_timeout TO '100ms' AS $$
DECLARE
  one text;
BEGIN
  IF EXISTS (SELECT 1 FROM removed AS j JOIN {{schema}}.periodic_task AS t ON t.id = j.tracker
             WHERE j.state IN ('waiting', 'scheduled', 'running', 'stuck') AND t.overlap IN ('queue', 'replace')) THEN
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  -- All at once, and one by one if that fails.
  FOR one IN SELECT NULL UNION ALL SELECT jid FROM removed WHERE tracker IS NOT NULL AND due IS NOT NULL LOOP
    BEGIN
      UPDATE {{schema}}.periodic_tick AS k
         SET outcome = j.outcome, finished = j.finished, attempts = j.attempts, error = j.error
        FROM (SELECT t.task_id, t.due, r.finished, CASE WHEN r.started IS NOT NULL THEN r.retries + 1 END AS attempts,
                     CASE WHEN r.state = 'failed' THEN left(r.result, 1000) END AS error, CASE WHEN r.state IN ('success', 'failed', 'cancelled') THEN r.state WHEN r.state = 'waiting' THEN 'cancelled' ELSE 'unknown' END AS outcome
                FROM removed AS r JOIN {{schema}}.periodic_tick AS t ON t.task_id = r.tracker AND t.due = r.due AND t.jid = r.jid
               WHERE one IS NULL OR r.jid = one
                 FOR NO KEY UPDATE OF t SKIP LOCKED) AS j
       WHERE k.task_id = j.task_id AND k.due = j.due;
      EXIT WHEN one IS NULL;
    EXCEPTION
      WHEN lock_not_available THEN EXIT;
      WHEN OTHERS THEN NULL;
    END;
  END LOOP;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_job_deleted AFTER DELETE ON job
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION nextrun_job_deleted();

-- Who is woken --------------------------------------------------------------------------------------------------------

-- One notification for each transaction: the payload is constant, and PostgreSQL sends equal ones once.
-- +goose StatementBegin
CREATE FUNCTION nextrun_wake() RETURNS trigger LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_notify(TG_ARGV[0], '');
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- Executors, when there is a job to claim, retry or cancel, or more of them may run.
CREATE TRIGGER nextrun_job_added AFTER INSERT ON job
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_wake('nextrun_job');
CREATE TRIGGER nextrun_job_waits AFTER UPDATE OF state, cancel, retry ON job
  FOR EACH ROW WHEN ((NEW.state = 'waiting' AND (OLD.state <> 'waiting' OR NEW.retry IS DISTINCT FROM OLD.retry))
                     OR (NEW.cancel IS NOT NULL AND OLD.cancel IS NULL))
  EXECUTE FUNCTION nextrun_wake('nextrun_job');
CREATE TRIGGER nextrun_limit_changed AFTER INSERT OR UPDATE OR DELETE ON job_limit
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_wake('nextrun_job');
-- Schedulers, when a job in another queue has ended for which ticks may wait.
CREATE TRIGGER nextrun_open_ended AFTER DELETE OR TRUNCATE ON periodic_open
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_wake('nextrun_task');
-- Relays, when there are new events, or one is sent again.
CREATE TRIGGER nextrun_message_added AFTER INSERT ON outbox_message
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_wake('nextrun_event');
CREATE TRIGGER nextrun_message_again AFTER UPDATE OF published, dead ON outbox_message
  FOR EACH ROW WHEN (NEW.published IS NULL AND NEW.dead IS NULL
                     AND (OLD.published IS NOT NULL OR OLD.dead IS NOT NULL))
  EXECUTE FUNCTION nextrun_wake('nextrun_event');
-- Those who stand by, when a lock is released, also by hand.
CREATE TRIGGER nextrun_lock_released AFTER DELETE ON scheduler_lock
  FOR EACH ROW WHEN (OLD.name NOT LIKE 'topic:%') EXECUTE FUNCTION nextrun_wake('nextrun_lock');

-- They run with the rights of their owner.
REVOKE EXECUTE ON FUNCTION nextrun_task_edited(), nextrun_task_unskips(), nextrun_tick_skipped(), nextrun_job_ended(), nextrun_job_deleted()
  FROM PUBLIC;

-- Views ---------------------------------------------------------------------------------------------------------------

-- A tick and what became of it, wherever its job is. Who reads one task's newest runs asks for task_id, in the order of due: the
-- database then reads those only.
CREATE VIEW periodic_run AS
SELECT k.task_id, k.due, k.decision, k.cause, k.reason, k.missed, k.until, k.jid, k.worker, k.decided,
       coalesce(j.state, CASE k.outcome WHEN 'gone' THEN 'success' ELSE k.outcome END,
                CASE WHEN m.dead IS NOT NULL THEN 'failed' WHEN m.published IS NOT NULL THEN 'success' WHEN m.id IS NOT NULL THEN 'pending' END) AS state,
       j.submitted, j.started, coalesce(j.finished, k.finished, m.published, m.dead) AS finished,
       coalesce(CASE WHEN j.started IS NOT NULL THEN j.retries + CASE WHEN j.state IN ('waiting', 'stuck') THEN 0 ELSE 1 END END, k.attempts, m.attempts) AS attempts, j.interrupts,
       coalesce(j.result, k.error, m.problem) AS result, j.worker AS executor
  FROM periodic_tick AS k LEFT JOIN job AS j ON j.jid = k.jid LEFT JOIN outbox_message AS m ON m.event_id = k.jid
 WHERE k.decided IS NOT NULL;
COMMENT ON VIEW periodic_run IS 'the decided ticks of all tasks, and what became of their jobs and events, wherever those are';
COMMENT ON COLUMN periodic_run.state      IS 'of its job: as in the table job, or success, failed, cancelled or unknown; of its event pending, success or failed; NULL: there is none, or nobody knows';
COMMENT ON COLUMN periodic_run.finished   IS 'when it ended, UTC';
COMMENT ON COLUMN periodic_run.attempts   IS 'how many attempts have begun';
COMMENT ON COLUMN periodic_run.interrupts IS 'how often the worker of its job died, or lost it';
COMMENT ON COLUMN periodic_run.result     IS 'what it said at the end: a message, or the error';
COMMENT ON COLUMN periodic_run.executor   IS 'the executor of nextrun that has, or had, its job: its name and a random id';

-- Values that nobody writes, such as a time of infinity, hide no other rows.
CREATE VIEW periodic_health AS
SELECT t.id, t.enabled, t.timer, t.nextrun, t.problem,
       CASE WHEN t.enabled AND greatest(t.nextrun, t.since) < (statement_timestamp() AT TIME ZONE 'UTC') - interval '5 seconds'
             AND NOT (t.overlap IN ('queue', 'replace') AND (EXISTS (SELECT 1 FROM periodic_open AS o WHERE o.task_id = t.id AND o.ended IS NULL)
                      OR EXISTS (SELECT 1 FROM job AS p WHERE p.tracker = t.id AND p.state IN ('waiting', 'scheduled', 'running', 'stuck'))))
            THEN (statement_timestamp() AT TIME ZONE 'UTC') - greatest(t.nextrun, t.since) END AS overdue,
       last.due AS last_due, last.decision AS last_decision, last.cause AS last_cause,
       last.state AS last_state, last.finished AS last_finished,
       day.submitted AS submitted_24h, day.skipped AS skipped_24h, day.late AS late_24h, day.missed AS missed_24h,
       CASE WHEN last.state IN ('failed', 'stuck', 'cancelled', 'unknown') THEN last.result END AS last_error
  FROM periodic_task AS t
  LEFT JOIN LATERAL (SELECT * FROM periodic_run AS r WHERE r.task_id = t.id ORDER BY r.due DESC LIMIT 1) AS last ON true
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.decision = 'submitted') AS submitted,
           count(*) FILTER (WHERE k.decision = 'skipped') AS skipped,
           count(*) FILTER (WHERE k.decision = 'late') AS late,
           coalesce(sum(abs(k.missed::bigint)) FILTER (WHERE k.decision = 'missed'), 0)::bigint AS missed
      FROM periodic_tick AS k
     WHERE k.task_id = t.id AND k.decided IS NOT NULL AND k.due > (statement_timestamp() AT TIME ZONE 'UTC') - interval '24 hours') AS day;
COMMENT ON VIEW periodic_health IS 'each task with its last run, and what became of its ticks of the last 24 hours';
COMMENT ON COLUMN periodic_health.overdue     IS 'for how long no scheduler has taken it, from 5 seconds on; on SQLite in seconds; NULL: it is not overdue';
COMMENT ON COLUMN periodic_health.skipped_24h IS 'those of a pause that share a row count as one';
COMMENT ON COLUMN periodic_health.missed_24h  IS 'each missed tick counts';
COMMENT ON COLUMN periodic_health.last_error  IS 'what its newest run said, if that failed';

-- The rule of the alert NextrunTaskStale, as far as SQL knows: it cannot read timers, so of
-- ticks that nobody has decided it sees the planned one only. It looks for the tick that must
-- have succeeded among those that are old enough, not among the newest ones, which are all too
-- young if a task runs every few seconds. A submission counts as success where nobody can tell
-- how the job ends: it has no outcome, and none is awaited.
-- What calendars and people leave out need not succeed. A tick may be as late as its jitter.
-- A task whose newest tick succeeded, and which is not due, is not looked at any closer: most are so.
CREATE VIEW periodic_stale AS
SELECT t.id, t.task, t.group_, t.timer, e.expected, u.last_success,
       CASE WHEN t.sink = 'job' OR e.told THEN 'job' ELSE 'submission' END AS judged_by,
       last.decision, last.cause, last.state
  FROM periodic_task AS t
 CROSS JOIN LATERAL (SELECT statement_timestamp() AT TIME ZONE 'UTC' AS now) AS c
 -- The ten newest successes among the last 1,000 ticks, and the median time from the
 -- submission of their jobs to the success.
 CROSS JOIN LATERAL (
    SELECT max(run.done) AS last_success,
           coalesce((array_agg(run.took ORDER BY run.took))[count(run.took) / 2 + 1], interval '0') AS usual
      FROM (SELECT coalesce(last.finished, last.decided) AS done,
                   CASE WHEN last.finished BETWEEN last.decided AND c.now AND last.decided > '1970-01-01' THEN last.finished - last.decided END AS took
              FROM (SELECT r.due, r.decision, r.decided, r.state, r.finished FROM periodic_run AS r WHERE r.task_id = t.id ORDER BY r.due DESC LIMIT 1000) AS last
             WHERE last.decision = 'submitted'
               AND CASE WHEN t.sink <> 'event' AND last.state IS NOT NULL THEN last.state = 'success'
                        ELSE t.sink <> 'job' AND NOT EXISTS (SELECT 1 FROM periodic_open AS a WHERE a.tells AND a.task_id = t.id AND a.due = last.due) END
             ORDER BY last.due DESC LIMIT 10) AS run) AS u
 CROSS JOIN LATERAL (SELECT c.now - make_interval(secs => 60.0 + t.jitter) - 2 * u.usual AS by_now) AS b
 -- The newest tick that must have succeeded by now. One of a pause need not, nor one
 -- of which nobody knows what became.
 CROSS JOIN LATERAL (
    SELECT CASE WHEN t.due <= b.by_now THEN t.due
                ELSE max(CASE WHEN last.until <= b.by_now THEN last.until ELSE last.due END) END AS expected,
           bool_or(t.sink <> 'event' AND last.state IS NOT NULL
                   OR EXISTS (SELECT 1 FROM periodic_open AS a WHERE a.tells AND a.task_id = t.id AND a.due = last.due)) AS told
      FROM (SELECT r.due, r.until, r.decision, r.cause, r.state FROM periodic_run AS r WHERE r.task_id = t.id AND r.due <= b.by_now ORDER BY r.due DESC LIMIT 10) AS last
     WHERE CASE last.decision WHEN 'skipped' THEN coalesce(last.cause, '') NOT IN ('paused', 'calendar', 'person')
                              WHEN 'submitted' THEN t.sink <> 'job' OR last.state IS NOT NULL
                              ELSE true END) AS e
  LEFT JOIN LATERAL (
    SELECT r.* FROM periodic_run AS r
     WHERE r.task_id = t.id AND r.due <= e.expected AND (t.due <= b.by_now) IS NOT TRUE
     ORDER BY r.due DESC LIMIT 1) AS last ON true
 WHERE t.enabled AND (t.paused IS NULL OR t.paused_until <= c.now) AND e.expected IS NOT NULL
   AND (t.due <= c.now - interval '60 seconds'
        OR (SELECT r.state FROM periodic_run AS r WHERE r.task_id = t.id ORDER BY r.due DESC LIMIT 1) IS DISTINCT FROM 'success')
   AND (t.due <= b.by_now OR (u.last_success >= e.expected) IS NOT TRUE)
 ORDER BY e.expected;
COMMENT ON VIEW periodic_stale IS 'tasks, neither disabled nor paused, whose last success is older than the newest tick that must have succeeded by now';
COMMENT ON COLUMN periodic_stale.expected     IS 'the tick that must have succeeded, or a later one, UTC';
COMMENT ON COLUMN periodic_stale.last_success IS 'when the latest success was, UTC; NULL: none among 1,000 ticks';
COMMENT ON COLUMN periodic_stale.judged_by    IS 'what counts as success: job, that the job ended so; submission, of events and in queues that do not tell how jobs end';
COMMENT ON COLUMN periodic_stale.decision     IS 'of that tick, like cause and state; NULL: no scheduler has taken it';

-- +goose Down
-- The rest of the way down follows from the way up: see migrations/objects.go.
{{if found "job"}}
{{range withoutDefault "job"}}
ALTER TABLE job ALTER COLUMN {{.Name}} DROP DEFAULT;
{{end}}
{{end}}
{{if found "periodic_task"}}
{{range withoutDefault "periodic_task"}}
ALTER TABLE periodic_task ALTER COLUMN {{.Name}} DROP DEFAULT;
{{end}}
{{end}}
