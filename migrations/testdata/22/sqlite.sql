BEGIN TRANSACTION;
CREATE TABLE event_aggregate (
  id      varchar(254) NOT NULL PRIMARY KEY,
  version bigint       NOT NULL
) WITHOUT ROWID;
CREATE TABLE event_offset (
  group_   varchar(254) NOT NULL,
  topic    varchar(254) NOT NULL,
  position bigint       NOT NULL DEFAULT 0,
  holder   varchar(254),
  token    bigint       NOT NULL DEFAULT 0,
  expires  timestamp,
  attempts integer      NOT NULL DEFAULT 0,
  problem  text,
  retry    timestamp,
  updated  timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  PRIMARY KEY (group_, topic)
) WITHOUT ROWID;
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
  position          bigint, traceparent text,
  CONSTRAINT nextrun_event_version UNIQUE (aggregate_id, aggregate_version)
);
INSERT INTO "event_store" VALUES(1,'e','t','y','a',1,'{}',NULL,'2026-11-24 14:41:45.954000',NULL,NULL);
INSERT INTO "event_store" VALUES(2,'te','t','y','ta',1,'{}',NULL,'2026-11-24 14:41:45.961000',NULL,'none');
CREATE TABLE event_topic (
  topic    varchar(254) NOT NULL PRIMARY KEY,
  position bigint       NOT NULL DEFAULT 0
) WITHOUT ROWID;
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
, due       timestamp, heartbeat timestamp, single    boolean NOT NULL DEFAULT 0, cancel    timestamp, retry     timestamp, result    text, interrupts integer NOT NULL DEFAULT 0, retry_limit integer
  CONSTRAINT nextrun_job_retry_limit CHECK (retry_limit IS NULL OR typeof(retry_limit) = 'integer' AND retry_limit BETWEEN 0 AND 1000000), retry_delay integer
  CONSTRAINT nextrun_job_retry_delay CHECK (retry_delay IS NULL OR typeof(retry_delay) = 'integer' AND retry_delay BETWEEN 1 AND 31536000), timeout integer
  CONSTRAINT nextrun_job_timeout CHECK (timeout IS NULL OR typeof(timeout) = 'integer' AND timeout BETWEEN 1 AND 31536000), concurrency integer
  CONSTRAINT nextrun_job_concurrency CHECK (concurrency IS NULL OR typeof(concurrency) = 'integer' AND concurrency BETWEEN 1 AND 1000000), traceparent text);
INSERT INTO "job" VALUES('old-job','x','default','{}','','2026-11-24 14:41:45.950000','nextrun',0,'waiting',0,0,'old',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "job" VALUES('limited','x','default','{}','','2026-11-24 14:41:45.957000','nextrun',0,'waiting',0,0,'limited',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,'2030-01-01 00:00:00.000000',NULL,0,0,NULL,NULL,NULL,NULL);
INSERT INTO "job" VALUES('traced','x','default','{}','','2026-11-24 14:41:45.961000','nextrun',0,'waiting',0,0,'traced',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
CREATE TABLE job_limit (
  kind varchar(16)  NOT NULL CONSTRAINT nextrun_limit_kind CHECK (kind IN ('group', 'task')),
  name varchar(254) NOT NULL,
  most integer      NOT NULL CONSTRAINT nextrun_limit_most CHECK (typeof(most) = 'integer' AND most BETWEEN 1 AND 1000000),
  PRIMARY KEY (kind, name)
);
INSERT INTO "job_limit" VALUES('task','x',2);
CREATE TABLE job_pause (
  kind  varchar(16)  NOT NULL CONSTRAINT nextrun_pause_kind CHECK (kind IN ('group', 'task')),
  name  varchar(254) NOT NULL,
  since timestamp    NOT NULL,
  PRIMARY KEY (kind, name)
);
CREATE TABLE jobgroupuse (
  groupid  varchar(254) NOT NULL,
  workerid varchar(254) NOT NULL,
  PRIMARY KEY (groupid, workerid)
);
CREATE TABLE joblog (
  id      varchar(254) NOT NULL PRIMARY KEY,
  jid     varchar(254) NOT NULL REFERENCES job (jid),
  level   varchar(254) NOT NULL,
  created timestamp    NOT NULL,
  message text         NOT NULL,
  counter bigint
);
INSERT INTO "joblog" VALUES('l','old-job','info','2026-03-04 05:06:07.000000','m',NULL);
CREATE TABLE nextrun_found (name text NOT NULL PRIMARY KEY);
CREATE TABLE nextrun_migration (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO "nextrun_migration" VALUES(1,0,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(2,1,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(3,2,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(4,3,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(5,4,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(6,5,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(7,6,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(8,7,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(9,8,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(10,9,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(11,10,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(12,11,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(13,12,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(14,13,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(15,14,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(16,15,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(17,16,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(18,17,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(19,18,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(20,19,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(21,20,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(22,21,1,'2026-11-24 14:41:45');
INSERT INTO "nextrun_migration" VALUES(23,22,1,'2026-11-24 14:41:45');
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
INSERT INTO "outbox_message" VALUES(1,'e','t','2026-11-24 14:41:45.954000',NULL,0,0,NULL,NULL,NULL);
CREATE TABLE outbox_topic (
  topic   varchar(254) NOT NULL PRIMARY KEY,
  strict  boolean      NOT NULL DEFAULT 0,
  holder  varchar(254),
  token   bigint       NOT NULL DEFAULT 0,
  expires timestamp
) WITHOUT ROWID;
CREATE TABLE periodic_action (
  id      integer       PRIMARY KEY,
  at      timestamp     NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  who     varchar(254)  NOT NULL,
  action  varchar(32)   NOT NULL,
  task_id varchar(254),
  jid     varchar(254),
  detail  varchar(1000)
);
INSERT INTO "periodic_action" VALUES(1,'2026-11-24 14:41:45.964000','ada','pause','paused',NULL,NULL);
CREATE TABLE periodic_open (
  task_id   varchar(254) NOT NULL PRIMARY KEY,
  sink      varchar(64)  NOT NULL,
  ref       text         NOT NULL,
  jid       varchar(254) NOT NULL,
  due       timestamp    NOT NULL,
  submitted timestamp    NOT NULL
) WITHOUT ROWID;
INSERT INTO "periodic_open" VALUES('open','river','1','j','2026-01-01 00:00:00.000000','2026-01-01 00:00:00.000000');
CREATE TABLE periodic_ready (
  seq     integer PRIMARY KEY,
  task_id varchar(254) NOT NULL UNIQUE
);
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
  summary   varchar(254)
, due      timestamp
  CONSTRAINT nextrun_due CHECK (due IS NULL OR (due GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]') AND strftime('%Y-%m-%d %H:%M:%S', due) IS substr(due, 1, 19)), starts   timestamp, ends     timestamp, overlap  varchar(16) NOT NULL DEFAULT 'skip'
  CONSTRAINT nextrun_overlap CHECK (overlap IN ('skip', 'queue', 'replace', 'allow')), catchup  varchar(16) NOT NULL DEFAULT 'one'
  CONSTRAINT nextrun_catchup CHECK (catchup IN ('one', 'none', 'all')), grace    integer NOT NULL DEFAULT 60
  CONSTRAINT nextrun_grace CHECK (typeof(grace) = 'integer' AND grace BETWEEN 0 AND 2147483647), deadline integer
  CONSTRAINT nextrun_deadline CHECK (deadline IS NULL OR typeof(deadline) = 'integer' AND deadline BETWEEN 0 AND 2147483647), jitter   integer NOT NULL DEFAULT 0
  CONSTRAINT nextrun_jitter CHECK (typeof(jitter) = 'integer' AND jitter BETWEEN 0 AND 2147483647), sink     varchar(16) NOT NULL DEFAULT 'job', problem  text, retry_limit integer
  CONSTRAINT nextrun_retry_limit CHECK (retry_limit IS NULL OR typeof(retry_limit) = 'integer' AND retry_limit BETWEEN 0 AND 1000000), retry_delay integer
  CONSTRAINT nextrun_retry_delay CHECK (retry_delay IS NULL OR typeof(retry_delay) = 'integer' AND retry_delay BETWEEN 1 AND 31536000), timeout integer
  CONSTRAINT nextrun_timeout CHECK (timeout IS NULL OR typeof(timeout) = 'integer' AND timeout BETWEEN 1 AND 31536000), concurrency integer
  CONSTRAINT nextrun_concurrency CHECK (concurrency IS NULL OR typeof(concurrency) = 'integer' AND concurrency BETWEEN 1 AND 1000000), paused       timestamp, paused_until timestamp, paused_by     varchar(254) CONSTRAINT nextrun_paused_by
  CHECK (paused_by IS NULL OR typeof(paused_by) = 'text' AND length(paused_by) <= 254 AND NOT instr(CAST(paused_by AS BLOB), x'00')), paused_reason varchar(254) CONSTRAINT nextrun_paused_reason
  CHECK (paused_reason IS NULL OR typeof(paused_reason) = 'text' AND length(paused_reason) <= 254 AND NOT instr(CAST(paused_reason AS BLOB), x'00')), changed timestamp, CONSTRAINT nextrun_sink
  CHECK (sink GLOB '[a-z]*' AND sink NOT GLOB '*[^a-z0-9_-]*' AND length(sink) <= 64));
INSERT INTO "periodic_task" VALUES('nextrun-housekeeping',1,'nextrun.housekeeping','nextrun','{"ticks_days": 30, "jobs_days": 30, "events_days": 30}','Delete old ticks, jobs and logs','nextrun',0,NULL,NULL,'*-*-* 03:17','1970-01-01 00:00:00.000000','2026-11-24 14:41:45.888000','keeps the tables small; edit the days in args, or disable it',NULL,NULL,NULL,'skip','one',60,NULL,0,'job',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-24 14:41:45.937000');
INSERT INTO "periodic_task" VALUES('old',1,'x','default','--full','','nextrun',0,NULL,NULL,'yearly','1970-01-01 00:00:00.000000','2026-11-24 14:41:45.953000',NULL,NULL,NULL,NULL,'queue','one',60,NULL,0,'job','warning: args is not JSON',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "periodic_task" VALUES('open',1,'x','default','{}','','nextrun',0,NULL,NULL,'yearly','1970-01-01 00:00:00.000000','2026-11-24 14:41:45.957000',NULL,NULL,NULL,NULL,'skip','one',60,NULL,0,'river',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "periodic_task" VALUES('paused',1,'x','default','{}','','nextrun',0,NULL,NULL,'yearly','1970-01-01 00:00:00.000000','2026-11-24 14:41:45.960000',NULL,NULL,NULL,NULL,'skip','one',60,NULL,0,'job',NULL,NULL,NULL,NULL,NULL,'2026-01-01 00:00:00.000000','2199-01-01 00:00:00.000000','ada','moving',NULL);
INSERT INTO "periodic_task" VALUES('changed',0,'x','default','{}','','nextrun',0,NULL,NULL,'daily','1970-01-01 00:00:00.000000','2026-11-24 14:41:45.964000',NULL,NULL,NULL,NULL,'skip','one',60,NULL,0,'job',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2026-01-01 00:00:00.000000');
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
) WITHOUT ROWID;
INSERT INTO "periodic_tick" VALUES('gone','2026-01-02 00:00:00.000000','missed',NULL,0,NULL,NULL,NULL,'2026-01-02 00:00:00.000000');
INSERT INTO "periodic_tick" VALUES('old','2026-01-01 00:00:00.000000','late',NULL,0,NULL,NULL,NULL,'2026-01-01 00:00:00.000000');
INSERT INTO "periodic_tick" VALUES('old','2026-01-02 00:00:00.000000','queued',NULL,0,NULL,NULL,NULL,'2026-01-02 00:00:00.000000');
CREATE TABLE scheduler_lock (
  name      varchar(254) NOT NULL PRIMARY KEY,
  holder    varchar(254) NOT NULL,
  hostname  varchar(254) NOT NULL,
  pid       integer      NOT NULL,
  token     bigint       NOT NULL,
  acquired  timestamp    NOT NULL,
  heartbeat timestamp    NOT NULL,
  expires   timestamp    NOT NULL
);
INSERT INTO "scheduler_lock" VALUES('nextrun','h/1','host',1,7,'2026-01-01 00:00:00.000000','2026-01-01 00:00:00.000000','1970-01-01 00:00:00.000000');
CREATE TABLE worker_service (
  worker      varchar(254) NOT NULL PRIMARY KEY,
  kind        varchar(32)  NOT NULL,
  version     varchar(254) NOT NULL,
  started     timestamp    NOT NULL,
  seen        timestamp,
  places      integer,
  lease       integer,
  only_groups text,
  handlers    text
, trouble text);
INSERT INTO "worker_service" VALUES('w@1','executor','v1','2026-01-01 00:00:00.000000','2199-01-01 00:00:00.000000',10,30,NULL,'[]','permission denied');
CREATE TABLE worker_session (
  worker  varchar(254) NOT NULL PRIMARY KEY,
  session varchar(64)  NOT NULL,
  server  timestamp    NOT NULL,
  since   timestamp    NOT NULL,
  ended   timestamp
);
INSERT INTO "worker_session" VALUES('w@1','s','2026-01-01 00:00:00.000000','2026-01-01 00:00:00.000000',NULL);
CREATE UNIQUE INDEX nextrun_job_pending ON job (tracker, (CASE WHEN single THEN '' ELSE jid END))
  WHERE state IN ('waiting', 'scheduled', 'running', 'stuck') AND tracker IS NOT NULL;
CREATE INDEX nextrun_job_active ON job (heartbeat) WHERE state IN ('scheduled', 'running');
CREATE INDEX nextrun_job_stuck ON job (retry) WHERE state = 'stuck';
CREATE INDEX nextrun_job_cancel ON job (worker) WHERE state IN ('scheduled', 'running') AND cancel IS NOT NULL;
CREATE INDEX nextrun_job_finished ON job (finished) WHERE finished IS NOT NULL;
CREATE INDEX nextrun_joblog_jid ON joblog (jid, counter);
CREATE INDEX nextrun_task_due ON periodic_task (nextrun) WHERE enabled AND worker IS NULL;
CREATE INDEX nextrun_task_marked ON periodic_task (marked) WHERE worker IS NOT NULL;
CREATE INDEX nextrun_tick_queued ON periodic_tick (task_id, due) WHERE decision = 'queued';
CREATE UNIQUE INDEX nextrun_event_due ON event_store (aggregate_id, due) WHERE due IS NOT NULL;
CREATE UNIQUE INDEX nextrun_event_position ON event_store (topic, position) WHERE position IS NOT NULL;
CREATE INDEX nextrun_event_unplaced ON event_store (topic, seq) WHERE position IS NULL;
CREATE INDEX nextrun_message_pending ON outbox_message (topic, id) WHERE published IS NULL AND dead IS NULL;
CREATE INDEX nextrun_message_dead ON outbox_message (topic, id) WHERE dead IS NOT NULL;
CREATE INDEX nextrun_message_published ON outbox_message (published) WHERE published IS NOT NULL;
CREATE UNIQUE INDEX nextrun_migration_once ON nextrun_migration (version_id) WHERE version_id > 5;
CREATE INDEX nextrun_job_waiting ON job (task, group_, (priority > 5), submitted, jid)
  WHERE state = 'waiting' AND retry IS NULL;
CREATE INDEX nextrun_job_later ON job (retry) WHERE state = 'waiting' AND retry IS NOT NULL;
CREATE INDEX nextrun_job_limited ON job (tracker)
  WHERE state IN ('scheduled', 'running') AND concurrency IS NOT NULL;
CREATE INDEX nextrun_task_paused_until ON periodic_task (paused_until) WHERE paused IS NOT NULL;
CREATE INDEX nextrun_action_task ON periodic_action (task_id, id);
CREATE INDEX nextrun_action_job ON periodic_action (jid, id) WHERE jid IS NOT NULL;
CREATE INDEX nextrun_action_at ON periodic_action (at);
CREATE TRIGGER nextrun_task_refuse_added BEFORE INSERT ON periodic_task
BEGIN

  SELECT RAISE(ABORT, 'periodic_task: enabled must be 0 or 1 (or false, true)')
    WHERE NEW.enabled IS NOT 0 AND NEW.enabled IS NOT 1;

  SELECT RAISE(ABORT, 'periodic_task: nextrun must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; an offset or Z may follow')
    WHERE (
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
          FROM (SELECT NEW.nextrun AS c, substr(NEW.nextrun, 17) AS tail)))))
 IS NULL;

  SELECT RAISE(ABORT, 'periodic_task: starts must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.starts IS NOT NULL AND (
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
          FROM (SELECT NEW.starts AS c, substr(NEW.starts, 17) AS tail)))))
 IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: ends must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.ends IS NOT NULL AND (
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
          FROM (SELECT NEW.ends AS c, substr(NEW.ends, 17) AS tail)))))
 IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: ends must be later than starts')
    WHERE (
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
          FROM (SELECT NEW.starts AS c, substr(NEW.starts, 17) AS tail)))))
 >= (
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
          FROM (SELECT NEW.ends AS c, substr(NEW.ends, 17) AS tail)))))
;
  SELECT RAISE(ABORT, 'periodic_task: created must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; an offset or Z may follow')
    WHERE (
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
          FROM (SELECT NEW.created AS c, substr(NEW.created, 17) AS tail)))))
 IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: id, task, group_, timer, subject, submitter and summary must be text of at most 254 characters without NUL')
    WHERE typeof(NEW.id) <> 'text' OR length(CAST(NEW.id AS BLOB)) > 1016 OR instr(CAST(NEW.id AS BLOB), x'00')
       OR length(NEW.id) > 254 OR NEW.id = ''
       OR typeof(NEW.task) <> 'text' OR length(NEW.task) > 254 OR instr(CAST(NEW.task AS BLOB), x'00')
       OR typeof(NEW.group_) <> 'text' OR length(NEW.group_) > 254 OR instr(CAST(NEW.group_ AS BLOB), x'00')
       OR typeof(NEW.timer) <> 'text' OR length(NEW.timer) > 254 OR instr(CAST(NEW.timer AS BLOB), x'00')
       OR typeof(NEW.subject) <> 'text' OR length(NEW.subject) > 254 OR instr(CAST(NEW.subject AS BLOB), x'00')
       OR typeof(NEW.submitter) <> 'text' OR length(NEW.submitter) > 254 OR instr(CAST(NEW.submitter AS BLOB), x'00')
       OR typeof(NEW.summary) NOT IN ('text', 'null') OR length(NEW.summary) > 254 OR instr(CAST(NEW.summary AS BLOB), x'00');
  SELECT RAISE(ABORT, 'periodic_task: priority must be an integer')
    WHERE typeof(NEW.priority) <> 'integer';
  SELECT RAISE(ABORT, 'periodic_task: args must be text')
    WHERE typeof(NEW.args) <> 'text';

END;
CREATE TRIGGER nextrun_task_refuse_edited
  BEFORE UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, created, summary,
                   starts, ends ON periodic_task
BEGIN

  SELECT RAISE(ABORT, 'periodic_task: enabled must be 0 or 1 (or false, true)')
    WHERE NEW.enabled IS NOT 0 AND NEW.enabled IS NOT 1;

  SELECT RAISE(ABORT, 'periodic_task: nextrun must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; an offset or Z may follow')
    WHERE (
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
          FROM (SELECT NEW.nextrun AS c, substr(NEW.nextrun, 17) AS tail)))))
 IS NULL;

  SELECT RAISE(ABORT, 'periodic_task: starts must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.starts IS NOT NULL AND (
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
          FROM (SELECT NEW.starts AS c, substr(NEW.starts, 17) AS tail)))))
 IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: ends must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.ends IS NOT NULL AND (
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
          FROM (SELECT NEW.ends AS c, substr(NEW.ends, 17) AS tail)))))
 IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: ends must be later than starts')
    WHERE (
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
          FROM (SELECT NEW.starts AS c, substr(NEW.starts, 17) AS tail)))))
 >= (
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
          FROM (SELECT NEW.ends AS c, substr(NEW.ends, 17) AS tail)))))
;
  SELECT RAISE(ABORT, 'periodic_task: created must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; an offset or Z may follow')
    WHERE (
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
          FROM (SELECT NEW.created AS c, substr(NEW.created, 17) AS tail)))))
 IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: id, task, group_, timer, subject, submitter and summary must be text of at most 254 characters without NUL')
    WHERE typeof(NEW.id) <> 'text' OR length(CAST(NEW.id AS BLOB)) > 1016 OR instr(CAST(NEW.id AS BLOB), x'00')
       OR length(NEW.id) > 254 OR NEW.id = ''
       OR typeof(NEW.task) <> 'text' OR length(NEW.task) > 254 OR instr(CAST(NEW.task AS BLOB), x'00')
       OR typeof(NEW.group_) <> 'text' OR length(NEW.group_) > 254 OR instr(CAST(NEW.group_ AS BLOB), x'00')
       OR typeof(NEW.timer) <> 'text' OR length(NEW.timer) > 254 OR instr(CAST(NEW.timer AS BLOB), x'00')
       OR typeof(NEW.subject) <> 'text' OR length(NEW.subject) > 254 OR instr(CAST(NEW.subject AS BLOB), x'00')
       OR typeof(NEW.submitter) <> 'text' OR length(NEW.submitter) > 254 OR instr(CAST(NEW.submitter AS BLOB), x'00')
       OR typeof(NEW.summary) NOT IN ('text', 'null') OR length(NEW.summary) > 254 OR instr(CAST(NEW.summary AS BLOB), x'00');
  SELECT RAISE(ABORT, 'periodic_task: priority must be an integer')
    WHERE typeof(NEW.priority) <> 'integer';
  SELECT RAISE(ABORT, 'periodic_task: args must be text')
    WHERE typeof(NEW.args) <> 'text';

END;
CREATE TRIGGER nextrun_task_refuse_moved BEFORE UPDATE OF nextrun ON periodic_task WHEN NEW.due IS OLD.due
BEGIN

  SELECT RAISE(ABORT, 'periodic_task: nextrun must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; an offset or Z may follow')
    WHERE (
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
          FROM (SELECT NEW.nextrun AS c, substr(NEW.nextrun, 17) AS tail)))))
 IS NULL;

END;
CREATE TRIGGER nextrun_task_refuse_planned BEFORE UPDATE OF due ON periodic_task
  WHEN NEW.due IS NOT OLD.due AND NOT (NEW.nextrun GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]')
BEGIN
  SELECT RAISE(ABORT, 'periodic_task: due is for the scheduler to write, and nextrun with it as YYYY-MM-DD HH:MM:SS.ffffff');
END;
CREATE TRIGGER nextrun_task_added AFTER INSERT ON periodic_task
  WHEN NOT ((NEW.nextrun GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]') AND (NEW.created GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]')
            AND (NEW.starts IS NULL OR (NEW.starts GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]'))
            AND (NEW.ends IS NULL OR (NEW.ends GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]'))
            AND json_valid(NEW.args))
BEGIN
  UPDATE periodic_task
     SET problem = CASE WHEN NOT json_valid(NEW.args) THEN 'warning: args is not JSON' END,
         nextrun = (
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
          FROM (SELECT NEW.nextrun AS c, substr(NEW.nextrun, 17) AS tail)))))
,
         created = (
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
          FROM (SELECT NEW.created AS c, substr(NEW.created, 17) AS tail)))))
,
         starts  = CASE WHEN NEW.starts IS NOT NULL THEN (
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
          FROM (SELECT NEW.starts AS c, substr(NEW.starts, 17) AS tail)))))
 END,
         ends    = CASE WHEN NEW.ends IS NOT NULL THEN (
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
          FROM (SELECT NEW.ends AS c, substr(NEW.ends, 17) AS tail)))))
 END
   WHERE id = NEW.id;
END;
CREATE TRIGGER nextrun_task_edited
  AFTER UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, created, summary,
                  starts, ends, overlap, catchup, grace, deadline, jitter, sink ON periodic_task
  WHEN NEW.due IS OLD.due
   AND (OLD.nextrun GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]') AND (OLD.created GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]')
   AND (OLD.starts IS NULL OR (OLD.starts GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]'))
   AND (OLD.ends IS NULL OR (OLD.ends GLOB '????-??-?? ??:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]'))
   AND (NEW.enabled IS NOT OLD.enabled OR NEW.nextrun IS NOT OLD.nextrun OR NEW.timer IS NOT OLD.timer
     OR NEW.id IS NOT OLD.id OR NEW.task IS NOT OLD.task OR NEW.group_ IS NOT OLD.group_
     OR NEW.subject IS NOT OLD.subject OR NEW.submitter IS NOT OLD.submitter OR NEW.priority IS NOT OLD.priority
     OR NEW.created IS NOT OLD.created OR NEW.summary IS NOT OLD.summary OR NEW.starts IS NOT OLD.starts
     OR NEW.ends IS NOT OLD.ends OR NEW.overlap IS NOT OLD.overlap OR NEW.catchup IS NOT OLD.catchup
     OR NEW.grace IS NOT OLD.grace OR NEW.deadline IS NOT OLD.deadline OR NEW.jitter IS NOT OLD.jitter
     OR NEW.sink IS NOT OLD.sink OR NEW.args IS NOT OLD.args)
BEGIN
  UPDATE periodic_task
     SET worker = NULL, marked = NULL,
         problem = CASE WHEN NOT json_valid(NEW.args) THEN 'warning: args is not JSON' END,
         created = (
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
          FROM (SELECT NEW.created AS c, substr(NEW.created, 17) AS tail)))))
,
         starts  = CASE WHEN NEW.starts IS NOT NULL THEN (
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
          FROM (SELECT NEW.starts AS c, substr(NEW.starts, 17) AS tail)))))
 END,
         ends    = CASE WHEN NEW.ends IS NOT NULL THEN (
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
          FROM (SELECT NEW.ends AS c, substr(NEW.ends, 17) AS tail)))))
 END,
         (nextrun, due) = (SELECT
           CASE WHEN moved THEN utc WHEN anew THEN '1970-01-01 00:00:00.000000' ELSE OLD.nextrun END,
           CASE WHEN moved OR anew THEN NULL ELSE OLD.due END
           FROM (SELECT utc, utc IS NOT OLD.nextrun AS moved,
                   NEW.timer IS NOT OLD.timer OR NEW.starts IS NOT OLD.starts OR NEW.ends IS NOT OLD.ends
                   OR (NEW.enabled AND NOT OLD.enabled)
                   OR coalesce(OLD.due >= '9999-12-31 23:59:59', 0) AS anew
                 FROM (SELECT (
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
          FROM (SELECT NEW.nextrun AS c, substr(NEW.nextrun, 17) AS tail)))))
 AS utc)))
   WHERE id = NEW.id;
END;
CREATE TRIGGER nextrun_job_ended AFTER UPDATE OF state, tracker ON job
  WHEN OLD.tracker IS NOT NULL AND OLD.state IN ('waiting', 'scheduled', 'running', 'stuck')
   AND (NEW.state NOT IN ('waiting', 'scheduled', 'running', 'stuck') OR NEW.tracker IS NOT OLD.tracker)
BEGIN

  INSERT INTO periodic_ready (task_id) SELECT OLD.tracker
   WHERE EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = OLD.tracker AND decision = 'queued')
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = OLD.tracker);

END;
CREATE TRIGGER nextrun_job_deleted AFTER DELETE ON job
  WHEN OLD.tracker IS NOT NULL AND OLD.state IN ('waiting', 'scheduled', 'running', 'stuck')
BEGIN

  INSERT INTO periodic_ready (task_id) SELECT OLD.tracker
   WHERE EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = OLD.tracker AND decision = 'queued')
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = OLD.tracker);

END;
CREATE TRIGGER nextrun_tick_queues AFTER INSERT ON periodic_tick WHEN NEW.decision = 'queued'
BEGIN

  INSERT INTO periodic_ready (task_id) SELECT NEW.task_id
   WHERE NOT EXISTS (SELECT 1 FROM job WHERE tracker = NEW.task_id AND state IN ('waiting', 'scheduled', 'running', 'stuck'))
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = NEW.task_id);

END;
CREATE TRIGGER nextrun_tick_requeues AFTER UPDATE OF decision ON periodic_tick WHEN NEW.decision = 'queued'
BEGIN

  INSERT INTO periodic_ready (task_id) SELECT NEW.task_id
   WHERE NOT EXISTS (SELECT 1 FROM job WHERE tracker = NEW.task_id AND state IN ('waiting', 'scheduled', 'running', 'stuck'))
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = NEW.task_id);

END;
CREATE TRIGGER nextrun_task_deleted AFTER DELETE ON periodic_task
BEGIN

  UPDATE periodic_tick SET decision = 'skipped', reason = 'the task was deleted while the tick waited',
         decided = strftime('%Y-%m-%d %H:%M:%f000', 'now')
   WHERE task_id = OLD.id AND decision = 'queued';

END;
CREATE TRIGGER nextrun_task_renamed AFTER UPDATE OF id ON periodic_task WHEN NEW.id IS NOT OLD.id
BEGIN

  UPDATE periodic_tick SET decision = 'skipped', reason = 'the task was deleted while the tick waited',
         decided = strftime('%Y-%m-%d %H:%M:%f000', 'now')
   WHERE task_id = OLD.id AND decision = 'queued';

END;
CREATE VIEW outbox_lag AS
  SELECT topic,
         count(*) FILTER (WHERE dead IS NULL) AS pending,
         min(created) FILTER (WHERE dead IS NULL) AS oldest,
         max(coalesce((julianday('now') - julianday(min(created) FILTER (WHERE dead IS NULL))) * 86400, 0), 0) AS age,
         count(*) FILTER (WHERE dead IS NOT NULL) AS dead
    FROM outbox_message WHERE published IS NULL GROUP BY topic;
CREATE VIEW periodic_overdue AS
SELECT id, task, group_, timer, due, nextrun,
       round((julianday('now') - julianday(max(nextrun, created))) * 86400.0, 3) AS overdue, worker, marked
  FROM periodic_task
 WHERE enabled AND max(nextrun, created) < strftime('%Y-%m-%d %H:%M:%f', 'now', '-5 seconds')
   AND nextrun <= strftime('%Y-%m-%d %H:%M:%f000', 'now')
 ORDER BY max(nextrun, created);
CREATE TRIGGER nextrun_lock_kept BEFORE DELETE ON scheduler_lock
BEGIN
  UPDATE scheduler_lock SET expires = '1970-01-01 00:00:00.000000' WHERE name = OLD.name;
  SELECT RAISE(IGNORE);
END;
CREATE TRIGGER nextrun_job_refuse_added BEFORE INSERT ON job
BEGIN

  SELECT CASE
    WHEN NOT ((typeof(NEW.jid) = 'text' AND length(NEW.jid) <= 254 AND NOT instr(CAST(NEW.jid AS BLOB), x'00')) AND NEW.jid <> '') THEN RAISE(ABORT, 'job: jid must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.task) = 'text' AND length(NEW.task) <= 254 AND NOT instr(CAST(NEW.task AS BLOB), x'00')) AND NEW.task <> '') THEN RAISE(ABORT, 'job: task must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.group_) = 'text' AND length(NEW.group_) <= 254 AND NOT instr(CAST(NEW.group_ AS BLOB), x'00')) AND NEW.group_ <> '') THEN RAISE(ABORT, 'job: group_ must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT (typeof(NEW.args) = 'text') THEN RAISE(ABORT, 'job: args must be text')
    WHEN NOT (typeof(NEW.subject) = 'text' AND length(NEW.subject) <= 254 AND NOT instr(CAST(NEW.subject AS BLOB), x'00')) THEN RAISE(ABORT, 'job: subject must be text of at most 254 characters without NUL')
    WHEN NOT (typeof(NEW.submitter) = 'text' AND length(NEW.submitter) <= 254 AND NOT instr(CAST(NEW.submitter AS BLOB), x'00')) THEN RAISE(ABORT, 'job: submitter must be text of at most 254 characters without NUL')
    WHEN NOT (typeof(NEW.submitted) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.submitted) IS substr(NEW.submitted, 1, 19)
    AND (length(NEW.submitted) = 19 OR substr(NEW.submitted, 20) GLOB '.[0-9]*' AND substr(NEW.submitted, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: submitted must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives')
    WHEN NOT (typeof(NEW.priority) = 'integer' AND NEW.priority BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'job: priority must be an integer of 32 bits: 0 is low, 10 is high')
    WHEN NEW.tracker IS NOT NULL AND NOT ((typeof(NEW.tracker) = 'text' AND length(NEW.tracker) <= 254 AND NOT instr(CAST(NEW.tracker AS BLOB), x'00')) AND NEW.tracker <> '') THEN RAISE(ABORT, 'job: tracker must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...), or NULL')
    WHEN NEW.due IS NOT NULL AND NOT (typeof(NEW.due) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.due) IS substr(NEW.due, 1, 19)
    AND (length(NEW.due) = 19 OR substr(NEW.due, 20) GLOB '.[0-9]*' AND substr(NEW.due, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: due must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN (typeof(NEW.single) <> 'integer' OR NEW.single NOT IN (0, 1)) THEN RAISE(ABORT, 'job: single must be 0 or 1 (or false, true)')
  END;


  SELECT CASE
    WHEN NOT ((typeof(NEW.state) = 'text' AND length(NEW.state) <= 254 AND NOT instr(CAST(NEW.state AS BLOB), x'00')) AND NEW.state <> '') THEN RAISE(ABORT, 'job: state must be text: waiting, scheduled, running, stuck, failed, cancelled or success')
    WHEN NOT (typeof(NEW.retries) = 'integer' AND NEW.retries BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'job: retries must be an integer of 32 bits')
    WHEN NOT (typeof(NEW.progress) = 'integer' AND NEW.progress BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'job: progress must be an integer of 32 bits')
    WHEN NOT (typeof(NEW.interrupts) = 'integer' AND NEW.interrupts BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'job: interrupts must be an integer of 32 bits')
    WHEN NEW.worker IS NOT NULL AND NOT (typeof(NEW.worker) = 'text' AND length(NEW.worker) <= 254 AND NOT instr(CAST(NEW.worker AS BLOB), x'00')) THEN RAISE(ABORT, 'job: worker must be text of at most 254 characters without NUL, or NULL')
    WHEN typeof(NEW.startedmillis) NOT IN ('integer', 'null') THEN RAISE(ABORT, 'job: startedmillis must be an integer, or NULL')
    WHEN NEW.started IS NOT NULL AND NOT (typeof(NEW.started) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.started) IS substr(NEW.started, 1, 19)
    AND (length(NEW.started) = 19 OR substr(NEW.started, 20) GLOB '.[0-9]*' AND substr(NEW.started, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: started must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.finished IS NOT NULL AND NOT (typeof(NEW.finished) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.finished) IS substr(NEW.finished, 1, 19)
    AND (length(NEW.finished) = 19 OR substr(NEW.finished, 20) GLOB '.[0-9]*' AND substr(NEW.finished, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: finished must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.heartbeat IS NOT NULL AND NOT (typeof(NEW.heartbeat) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.heartbeat) IS substr(NEW.heartbeat, 1, 19)
    AND (length(NEW.heartbeat) = 19 OR substr(NEW.heartbeat, 20) GLOB '.[0-9]*' AND substr(NEW.heartbeat, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: heartbeat must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.cancel IS NOT NULL AND NOT (typeof(NEW.cancel) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.cancel) IS substr(NEW.cancel, 1, 19)
    AND (length(NEW.cancel) = 19 OR substr(NEW.cancel, 20) GLOB '.[0-9]*' AND substr(NEW.cancel, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: cancel must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.retry IS NOT NULL AND NOT (typeof(NEW.retry) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.retry) IS substr(NEW.retry, 1, 19)
    AND (length(NEW.retry) = 19 OR substr(NEW.retry, 20) GLOB '.[0-9]*' AND substr(NEW.retry, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: retry must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.result IS NOT NULL AND NOT (typeof(NEW.result) = 'text') THEN RAISE(ABORT, 'job: result must be text, or NULL')
  END;

END;
CREATE TRIGGER nextrun_job_refuse_edited
  BEFORE UPDATE OF jid, task, group_, args, subject, submitter, submitted, priority, tracker, due, single ON job
BEGIN

  SELECT CASE
    WHEN NEW.jid IS NOT OLD.jid AND NOT ((typeof(NEW.jid) = 'text' AND length(NEW.jid) <= 254 AND NOT instr(CAST(NEW.jid AS BLOB), x'00')) AND NEW.jid <> '') THEN RAISE(ABORT, 'job: jid must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NEW.task IS NOT OLD.task AND NOT ((typeof(NEW.task) = 'text' AND length(NEW.task) <= 254 AND NOT instr(CAST(NEW.task AS BLOB), x'00')) AND NEW.task <> '') THEN RAISE(ABORT, 'job: task must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NEW.group_ IS NOT OLD.group_ AND NOT ((typeof(NEW.group_) = 'text' AND length(NEW.group_) <= 254 AND NOT instr(CAST(NEW.group_ AS BLOB), x'00')) AND NEW.group_ <> '') THEN RAISE(ABORT, 'job: group_ must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NEW.args IS NOT OLD.args AND NOT (typeof(NEW.args) = 'text') THEN RAISE(ABORT, 'job: args must be text')
    WHEN NEW.subject IS NOT OLD.subject AND NOT (typeof(NEW.subject) = 'text' AND length(NEW.subject) <= 254 AND NOT instr(CAST(NEW.subject AS BLOB), x'00')) THEN RAISE(ABORT, 'job: subject must be text of at most 254 characters without NUL')
    WHEN NEW.submitter IS NOT OLD.submitter AND NOT (typeof(NEW.submitter) = 'text' AND length(NEW.submitter) <= 254 AND NOT instr(CAST(NEW.submitter AS BLOB), x'00')) THEN RAISE(ABORT, 'job: submitter must be text of at most 254 characters without NUL')
    WHEN NEW.submitted IS NOT OLD.submitted AND NOT (typeof(NEW.submitted) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.submitted) IS substr(NEW.submitted, 1, 19)
    AND (length(NEW.submitted) = 19 OR substr(NEW.submitted, 20) GLOB '.[0-9]*' AND substr(NEW.submitted, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: submitted must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives')
    WHEN NEW.priority IS NOT OLD.priority AND NOT (typeof(NEW.priority) = 'integer' AND NEW.priority BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'job: priority must be an integer of 32 bits: 0 is low, 10 is high')
    WHEN NEW.tracker IS NOT OLD.tracker AND NEW.tracker IS NOT NULL AND NOT ((typeof(NEW.tracker) = 'text' AND length(NEW.tracker) <= 254 AND NOT instr(CAST(NEW.tracker AS BLOB), x'00')) AND NEW.tracker <> '') THEN RAISE(ABORT, 'job: tracker must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...), or NULL')
    WHEN NEW.due IS NOT OLD.due AND NEW.due IS NOT NULL AND NOT (typeof(NEW.due) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.due) IS substr(NEW.due, 1, 19)
    AND (length(NEW.due) = 19 OR substr(NEW.due, 20) GLOB '.[0-9]*' AND substr(NEW.due, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: due must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.single IS NOT OLD.single AND (typeof(NEW.single) <> 'integer' OR NEW.single NOT IN (0, 1)) THEN RAISE(ABORT, 'job: single must be 0 or 1 (or false, true)')
  END;

END;
CREATE TRIGGER nextrun_job_refuse_moved
  BEFORE UPDATE OF state, retries, progress, interrupts, worker, startedmillis, started, finished, heartbeat, cancel, retry,
                   result ON job
BEGIN

  SELECT CASE
    WHEN NEW.state IS NOT OLD.state AND NOT ((typeof(NEW.state) = 'text' AND length(NEW.state) <= 254 AND NOT instr(CAST(NEW.state AS BLOB), x'00')) AND NEW.state <> '') THEN RAISE(ABORT, 'job: state must be text: waiting, scheduled, running, stuck, failed, cancelled or success')
    WHEN NEW.retries IS NOT OLD.retries AND NOT (typeof(NEW.retries) = 'integer' AND NEW.retries BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'job: retries must be an integer of 32 bits')
    WHEN NEW.progress IS NOT OLD.progress AND NOT (typeof(NEW.progress) = 'integer' AND NEW.progress BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'job: progress must be an integer of 32 bits')
    WHEN NEW.interrupts IS NOT OLD.interrupts AND NOT (typeof(NEW.interrupts) = 'integer' AND NEW.interrupts BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'job: interrupts must be an integer of 32 bits')
    WHEN NEW.worker IS NOT OLD.worker AND NEW.worker IS NOT NULL AND NOT (typeof(NEW.worker) = 'text' AND length(NEW.worker) <= 254 AND NOT instr(CAST(NEW.worker AS BLOB), x'00')) THEN RAISE(ABORT, 'job: worker must be text of at most 254 characters without NUL, or NULL')
    WHEN NEW.startedmillis IS NOT OLD.startedmillis AND typeof(NEW.startedmillis) NOT IN ('integer', 'null') THEN RAISE(ABORT, 'job: startedmillis must be an integer, or NULL')
    WHEN NEW.started IS NOT OLD.started AND NEW.started IS NOT NULL AND NOT (typeof(NEW.started) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.started) IS substr(NEW.started, 1, 19)
    AND (length(NEW.started) = 19 OR substr(NEW.started, 20) GLOB '.[0-9]*' AND substr(NEW.started, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: started must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.finished IS NOT OLD.finished AND NEW.finished IS NOT NULL AND NOT (typeof(NEW.finished) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.finished) IS substr(NEW.finished, 1, 19)
    AND (length(NEW.finished) = 19 OR substr(NEW.finished, 20) GLOB '.[0-9]*' AND substr(NEW.finished, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: finished must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.heartbeat IS NOT OLD.heartbeat AND NEW.heartbeat IS NOT NULL AND NOT (typeof(NEW.heartbeat) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.heartbeat) IS substr(NEW.heartbeat, 1, 19)
    AND (length(NEW.heartbeat) = 19 OR substr(NEW.heartbeat, 20) GLOB '.[0-9]*' AND substr(NEW.heartbeat, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: heartbeat must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.cancel IS NOT OLD.cancel AND NEW.cancel IS NOT NULL AND NOT (typeof(NEW.cancel) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.cancel) IS substr(NEW.cancel, 1, 19)
    AND (length(NEW.cancel) = 19 OR substr(NEW.cancel, 20) GLOB '.[0-9]*' AND substr(NEW.cancel, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: cancel must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.retry IS NOT OLD.retry AND NEW.retry IS NOT NULL AND NOT (typeof(NEW.retry) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.retry) IS substr(NEW.retry, 1, 19)
    AND (length(NEW.retry) = 19 OR substr(NEW.retry, 20) GLOB '.[0-9]*' AND substr(NEW.retry, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'job: retry must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.result IS NOT OLD.result AND NEW.result IS NOT NULL AND NOT (typeof(NEW.result) = 'text') THEN RAISE(ABORT, 'job: result must be text, or NULL')
  END;

END;
CREATE TRIGGER nextrun_joblog_refuse_added BEFORE INSERT ON joblog
BEGIN

  SELECT CASE
    WHEN NOT ((typeof(NEW.id) = 'text' AND length(NEW.id) <= 254 AND NOT instr(CAST(NEW.id AS BLOB), x'00')) AND NEW.id <> '') THEN RAISE(ABORT, 'joblog: id must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.jid) = 'text' AND length(NEW.jid) <= 254 AND NOT instr(CAST(NEW.jid AS BLOB), x'00')) AND NEW.jid <> '') THEN RAISE(ABORT, 'joblog: jid must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.level) = 'text' AND length(NEW.level) <= 254 AND NOT instr(CAST(NEW.level AS BLOB), x'00')) AND NEW.level <> '') THEN RAISE(ABORT, 'joblog: level must be text: debug, info, warn or error')
    WHEN NOT (typeof(NEW.created) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.created) IS substr(NEW.created, 1, 19)
    AND (length(NEW.created) = 19 OR substr(NEW.created, 20) GLOB '.[0-9]*' AND substr(NEW.created, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'joblog: created must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives')
    WHEN NOT (typeof(NEW.message) = 'text') THEN RAISE(ABORT, 'joblog: message must be text')
    WHEN typeof(NEW.counter) NOT IN ('integer', 'null') THEN RAISE(ABORT, 'joblog: counter must be an integer, or NULL')
  END;

END;
CREATE TRIGGER nextrun_joblog_refuse_edited BEFORE UPDATE ON joblog
BEGIN

  SELECT CASE
    WHEN NOT ((typeof(NEW.id) = 'text' AND length(NEW.id) <= 254 AND NOT instr(CAST(NEW.id AS BLOB), x'00')) AND NEW.id <> '') THEN RAISE(ABORT, 'joblog: id must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.jid) = 'text' AND length(NEW.jid) <= 254 AND NOT instr(CAST(NEW.jid AS BLOB), x'00')) AND NEW.jid <> '') THEN RAISE(ABORT, 'joblog: jid must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.level) = 'text' AND length(NEW.level) <= 254 AND NOT instr(CAST(NEW.level AS BLOB), x'00')) AND NEW.level <> '') THEN RAISE(ABORT, 'joblog: level must be text: debug, info, warn or error')
    WHEN NOT (typeof(NEW.created) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.created) IS substr(NEW.created, 1, 19)
    AND (length(NEW.created) = 19 OR substr(NEW.created, 20) GLOB '.[0-9]*' AND substr(NEW.created, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'joblog: created must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives')
    WHEN NOT (typeof(NEW.message) = 'text') THEN RAISE(ABORT, 'joblog: message must be text')
    WHEN typeof(NEW.counter) NOT IN ('integer', 'null') THEN RAISE(ABORT, 'joblog: counter must be an integer, or NULL')
  END;

END;
CREATE TRIGGER nextrun_task_refuse_values_added BEFORE INSERT ON periodic_task
BEGIN

  SELECT CASE
    WHEN NEW.worker IS NOT NULL AND NOT (typeof(NEW.worker) = 'text' AND length(NEW.worker) <= 254 AND NOT instr(CAST(NEW.worker AS BLOB), x'00')) THEN RAISE(ABORT, 'periodic_task: worker must be text of at most 254 characters without NUL, or NULL; leave it to the scheduler')
    WHEN NEW.marked IS NOT NULL AND NOT (typeof(NEW.marked) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.marked) IS substr(NEW.marked, 1, 19)
    AND (length(NEW.marked) = 19 OR substr(NEW.marked, 20) GLOB '.[0-9]*' AND substr(NEW.marked, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'periodic_task: marked must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL; leave it to the scheduler')
    WHEN NEW.problem IS NOT NULL AND NOT (typeof(NEW.problem) = 'text') THEN RAISE(ABORT, 'periodic_task: problem must be text, or NULL')
  END;


  SELECT RAISE(ABORT, 'periodic_task: priority must be an integer of 32 bits: 0 is low, 10 is high')
   WHERE NOT (typeof(NEW.priority) = 'integer' AND NEW.priority BETWEEN -2147483648 AND 2147483647);

END;
CREATE TRIGGER nextrun_task_refuse_values_edited BEFORE UPDATE OF priority ON periodic_task
BEGIN

  SELECT RAISE(ABORT, 'periodic_task: priority must be an integer of 32 bits: 0 is low, 10 is high')
   WHERE NOT (typeof(NEW.priority) = 'integer' AND NEW.priority BETWEEN -2147483648 AND 2147483647);

END;
CREATE TRIGGER nextrun_task_refuse_marked BEFORE UPDATE OF worker, marked, problem ON periodic_task
  WHEN NEW.worker IS NOT NULL OR NEW.marked IS NOT NULL OR NEW.problem IS NOT NULL
BEGIN

  SELECT CASE
    WHEN NEW.worker IS NOT NULL AND NOT (typeof(NEW.worker) = 'text' AND length(NEW.worker) <= 254 AND NOT instr(CAST(NEW.worker AS BLOB), x'00')) THEN RAISE(ABORT, 'periodic_task: worker must be text of at most 254 characters without NUL, or NULL; leave it to the scheduler')
    WHEN NEW.marked IS NOT NULL AND NOT (typeof(NEW.marked) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.marked) IS substr(NEW.marked, 1, 19)
    AND (length(NEW.marked) = 19 OR substr(NEW.marked, 20) GLOB '.[0-9]*' AND substr(NEW.marked, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'periodic_task: marked must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL; leave it to the scheduler')
    WHEN NEW.problem IS NOT NULL AND NOT (typeof(NEW.problem) = 'text') THEN RAISE(ABORT, 'periodic_task: problem must be text, or NULL')
  END;

END;
CREATE TRIGGER nextrun_event_refuse_added BEFORE INSERT ON event_store
BEGIN

  SELECT CASE
    WHEN NOT ((typeof(NEW.id) = 'text' AND length(NEW.id) <= 254 AND NOT instr(CAST(NEW.id AS BLOB), x'00')) AND NEW.id <> '') THEN RAISE(ABORT, 'event_store: id must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.topic) = 'text' AND length(NEW.topic) <= 254 AND NOT instr(CAST(NEW.topic AS BLOB), x'00')) AND NEW.topic <> '') THEN RAISE(ABORT, 'event_store: topic must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.type) = 'text' AND length(NEW.type) <= 254 AND NOT instr(CAST(NEW.type AS BLOB), x'00')) AND NEW.type <> '') THEN RAISE(ABORT, 'event_store: type must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.aggregate_id) = 'text' AND length(NEW.aggregate_id) <= 254 AND NOT instr(CAST(NEW.aggregate_id AS BLOB), x'00')) AND NEW.aggregate_id <> '') THEN RAISE(ABORT, 'event_store: aggregate_id must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN typeof(NEW.aggregate_version) <> 'integer' THEN RAISE(ABORT, 'event_store: aggregate_version must be an integer')
    WHEN NOT (typeof(NEW.payload) = 'text') THEN RAISE(ABORT, 'event_store: payload must be text')
    WHEN NEW.due IS NOT NULL AND NOT (typeof(NEW.due) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.due) IS substr(NEW.due, 1, 19)
    AND (length(NEW.due) = 19 OR substr(NEW.due, 20) GLOB '.[0-9]*' AND substr(NEW.due, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'event_store: due must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NOT (typeof(NEW.created) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.created) IS substr(NEW.created, 1, 19)
    AND (length(NEW.created) = 19 OR substr(NEW.created, 20) GLOB '.[0-9]*' AND substr(NEW.created, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'event_store: created must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives')
  END;

END;
CREATE TRIGGER nextrun_event_refuse_edited
  BEFORE UPDATE OF id, topic, type, aggregate_id, aggregate_version, payload, due, created ON event_store
BEGIN

  SELECT CASE
    WHEN NOT ((typeof(NEW.id) = 'text' AND length(NEW.id) <= 254 AND NOT instr(CAST(NEW.id AS BLOB), x'00')) AND NEW.id <> '') THEN RAISE(ABORT, 'event_store: id must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.topic) = 'text' AND length(NEW.topic) <= 254 AND NOT instr(CAST(NEW.topic AS BLOB), x'00')) AND NEW.topic <> '') THEN RAISE(ABORT, 'event_store: topic must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.type) = 'text' AND length(NEW.type) <= 254 AND NOT instr(CAST(NEW.type AS BLOB), x'00')) AND NEW.type <> '') THEN RAISE(ABORT, 'event_store: type must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.aggregate_id) = 'text' AND length(NEW.aggregate_id) <= 254 AND NOT instr(CAST(NEW.aggregate_id AS BLOB), x'00')) AND NEW.aggregate_id <> '') THEN RAISE(ABORT, 'event_store: aggregate_id must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN typeof(NEW.aggregate_version) <> 'integer' THEN RAISE(ABORT, 'event_store: aggregate_version must be an integer')
    WHEN NOT (typeof(NEW.payload) = 'text') THEN RAISE(ABORT, 'event_store: payload must be text')
    WHEN NEW.due IS NOT NULL AND NOT (typeof(NEW.due) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.due) IS substr(NEW.due, 1, 19)
    AND (length(NEW.due) = 19 OR substr(NEW.due, 20) GLOB '.[0-9]*' AND substr(NEW.due, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'event_store: due must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NOT (typeof(NEW.created) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.created) IS substr(NEW.created, 1, 19)
    AND (length(NEW.created) = 19 OR substr(NEW.created, 20) GLOB '.[0-9]*' AND substr(NEW.created, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'event_store: created must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives')
  END;

END;
CREATE TRIGGER nextrun_event_refuse_placed BEFORE UPDATE OF position ON event_store
  WHEN typeof(NEW.position) NOT IN ('integer', 'null')
BEGIN
  SELECT RAISE(ABORT, 'event_store: position must be an integer, or NULL; leave it to the relay');
END;
CREATE TRIGGER nextrun_message_refuse_added BEFORE INSERT ON outbox_message
BEGIN

  SELECT CASE
    WHEN NOT ((typeof(NEW.event_id) = 'text' AND length(NEW.event_id) <= 254 AND NOT instr(CAST(NEW.event_id AS BLOB), x'00')) AND NEW.event_id <> '') THEN RAISE(ABORT, 'outbox_message: event_id must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT ((typeof(NEW.topic) = 'text' AND length(NEW.topic) <= 254 AND NOT instr(CAST(NEW.topic AS BLOB), x'00')) AND NEW.topic <> '') THEN RAISE(ABORT, 'outbox_message: topic must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NOT (typeof(NEW.created) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.created) IS substr(NEW.created, 1, 19)
    AND (length(NEW.created) = 19 OR substr(NEW.created, 20) GLOB '.[0-9]*' AND substr(NEW.created, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'outbox_message: created must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives')
    WHEN NOT (typeof(NEW.attempts) = 'integer' AND NEW.attempts BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'outbox_message: attempts must be an integer of 32 bits')
    WHEN NOT (typeof(NEW.refusals) = 'integer' AND NEW.refusals BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'outbox_message: refusals must be an integer of 32 bits')
    WHEN NEW.published IS NOT NULL AND NOT (typeof(NEW.published) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.published) IS substr(NEW.published, 1, 19)
    AND (length(NEW.published) = 19 OR substr(NEW.published, 20) GLOB '.[0-9]*' AND substr(NEW.published, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'outbox_message: published must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.retry IS NOT NULL AND NOT (typeof(NEW.retry) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.retry) IS substr(NEW.retry, 1, 19)
    AND (length(NEW.retry) = 19 OR substr(NEW.retry, 20) GLOB '.[0-9]*' AND substr(NEW.retry, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'outbox_message: retry must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.dead IS NOT NULL AND NOT (typeof(NEW.dead) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.dead) IS substr(NEW.dead, 1, 19)
    AND (length(NEW.dead) = 19 OR substr(NEW.dead, 20) GLOB '.[0-9]*' AND substr(NEW.dead, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'outbox_message: dead must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.problem IS NOT NULL AND NOT (typeof(NEW.problem) = 'text') THEN RAISE(ABORT, 'outbox_message: problem must be text, or NULL')
  END;

END;
CREATE TRIGGER nextrun_message_refuse_edited BEFORE UPDATE ON outbox_message
BEGIN
  SELECT CASE
    WHEN NEW.event_id IS NOT OLD.event_id AND NOT ((typeof(NEW.event_id) = 'text' AND length(NEW.event_id) <= 254 AND NOT instr(CAST(NEW.event_id AS BLOB), x'00')) AND NEW.event_id <> '') THEN RAISE(ABORT, 'outbox_message: event_id must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NEW.topic IS NOT OLD.topic AND NOT ((typeof(NEW.topic) = 'text' AND length(NEW.topic) <= 254 AND NOT instr(CAST(NEW.topic AS BLOB), x'00')) AND NEW.topic <> '') THEN RAISE(ABORT, 'outbox_message: topic must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...)')
    WHEN NEW.created IS NOT OLD.created AND NOT (typeof(NEW.created) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.created) IS substr(NEW.created, 1, 19)
    AND (length(NEW.created) = 19 OR substr(NEW.created, 20) GLOB '.[0-9]*' AND substr(NEW.created, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'outbox_message: created must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives')
    WHEN NEW.attempts IS NOT OLD.attempts AND NOT (typeof(NEW.attempts) = 'integer' AND NEW.attempts BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'outbox_message: attempts must be an integer of 32 bits')
    WHEN NEW.refusals IS NOT OLD.refusals AND NOT (typeof(NEW.refusals) = 'integer' AND NEW.refusals BETWEEN -2147483648 AND 2147483647) THEN RAISE(ABORT, 'outbox_message: refusals must be an integer of 32 bits')
    WHEN NEW.published IS NOT OLD.published AND NEW.published IS NOT NULL AND NOT (typeof(NEW.published) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.published) IS substr(NEW.published, 1, 19)
    AND (length(NEW.published) = 19 OR substr(NEW.published, 20) GLOB '.[0-9]*' AND substr(NEW.published, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'outbox_message: published must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.retry IS NOT OLD.retry AND NEW.retry IS NOT NULL AND NOT (typeof(NEW.retry) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.retry) IS substr(NEW.retry, 1, 19)
    AND (length(NEW.retry) = 19 OR substr(NEW.retry, 20) GLOB '.[0-9]*' AND substr(NEW.retry, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'outbox_message: retry must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.dead IS NOT OLD.dead AND NEW.dead IS NOT NULL AND NOT (typeof(NEW.dead) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', NEW.dead) IS substr(NEW.dead, 1, 19)
    AND (length(NEW.dead) = 19 OR substr(NEW.dead, 20) GLOB '.[0-9]*' AND substr(NEW.dead, 21) NOT GLOB '*[^0-9]*')) THEN RAISE(ABORT, 'outbox_message: dead must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives, or NULL')
    WHEN NEW.problem IS NOT OLD.problem AND NEW.problem IS NOT NULL AND NOT (typeof(NEW.problem) = 'text') THEN RAISE(ABORT, 'outbox_message: problem must be text, or NULL')
  END;
END;
CREATE TRIGGER nextrun_open_ended AFTER DELETE ON periodic_open
BEGIN
  INSERT INTO periodic_ready (task_id) SELECT OLD.task_id
   WHERE EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = OLD.task_id AND decision = 'queued')
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = OLD.task_id);
END;
CREATE TRIGGER nextrun_task_paused_added AFTER INSERT ON periodic_task
  WHEN NEW.paused IS NOT NULL OR NEW.paused_until IS NOT NULL
BEGIN
  UPDATE periodic_task SET
         paused       = CASE WHEN NEW.paused IS NOT NULL THEN (
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
          FROM (SELECT NEW.paused AS c, substr(NEW.paused, 17) AS tail)))))
 END,
         paused_until = CASE WHEN NEW.paused_until IS NOT NULL THEN (
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
          FROM (SELECT NEW.paused_until AS c, substr(NEW.paused_until, 17) AS tail)))))
 END
 WHERE id = NEW.id;
END;
CREATE VIEW periodic_upcoming AS
SELECT id, task, group_, timer, due, nextrun,
       round((julianday(nextrun) - julianday('now')) * 86400.0, 3) AS waits, summary
  FROM periodic_task
 WHERE enabled AND nextrun > '1970-01-01 00:00:00.000000' AND nextrun < '9999-12-31 23:59:59'
   AND (paused IS NULL OR due IS NULL OR paused_until <= due)
 ORDER BY nextrun;
CREATE TRIGGER nextrun_task_refuse_paused BEFORE UPDATE OF paused, paused_until ON periodic_task
  WHEN NEW.paused IS NOT OLD.paused OR NEW.paused_until IS NOT OLD.paused_until
BEGIN

  SELECT RAISE(ABORT, 'periodic_task: paused must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; to pause the task set it to CURRENT_TIMESTAMP (paused_until says when the pause ends), to resume it set it to NULL')
    WHERE NEW.paused IS NOT NULL AND (
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
          FROM (SELECT NEW.paused AS c, substr(NEW.paused, 17) AS tail)))))
 IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: paused_until must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.paused_until IS NOT NULL AND (
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
          FROM (SELECT NEW.paused_until AS c, substr(NEW.paused_until, 17) AS tail)))))
 IS NULL;

END;
CREATE TRIGGER nextrun_task_refuse_paused_added BEFORE INSERT ON periodic_task
  WHEN NEW.paused IS NOT NULL OR NEW.paused_until IS NOT NULL
BEGIN

  SELECT RAISE(ABORT, 'periodic_task: paused must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; to pause the task set it to CURRENT_TIMESTAMP (paused_until says when the pause ends), to resume it set it to NULL')
    WHERE NEW.paused IS NOT NULL AND (
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
          FROM (SELECT NEW.paused AS c, substr(NEW.paused, 17) AS tail)))))
 IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: paused_until must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.paused_until IS NOT NULL AND (
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
          FROM (SELECT NEW.paused_until AS c, substr(NEW.paused_until, 17) AS tail)))))
 IS NULL;

END;
CREATE TRIGGER nextrun_task_paused AFTER UPDATE OF paused, paused_until ON periodic_task
  WHEN NEW.paused IS NOT OLD.paused OR NEW.paused_until IS NOT OLD.paused_until
BEGIN
  UPDATE periodic_task
     SET worker = NULL, marked = NULL,
         paused_by     = CASE WHEN NEW.paused IS NOT NULL OR OLD.paused IS NULL THEN NEW.paused_by END,
         paused_reason = CASE WHEN NEW.paused IS NOT NULL OR OLD.paused IS NULL THEN NEW.paused_reason END,
         (paused, paused_until) = (SELECT since,
           CASE WHEN since IS NULL AND OLD.paused IS NOT NULL THEN NULL
                WHEN since IS NOT OLD.paused AND till <= since AND till IS OLD.paused_until THEN NULL
                ELSE till END
           FROM (SELECT CASE WHEN NEW.paused IS NOT NULL THEN (
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
          FROM (SELECT NEW.paused AS c, substr(NEW.paused, 17) AS tail)))))
 END AS since,
                        CASE WHEN NEW.paused_until IS NOT NULL THEN (
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
          FROM (SELECT NEW.paused_until AS c, substr(NEW.paused_until, 17) AS tail)))))
 END AS till))
   WHERE id = NEW.id;
  INSERT INTO periodic_ready (task_id) SELECT NEW.id
   WHERE EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = NEW.id AND decision = 'queued')
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = NEW.id);
END;
CREATE TRIGGER nextrun_task_changed AFTER UPDATE OF timer, starts, ends, enabled, nextrun, created, sink ON periodic_task
  WHEN NEW.due IS OLD.due AND (NEW.timer IS NOT OLD.timer OR NEW.starts IS NOT OLD.starts OR NEW.ends IS NOT OLD.ends
    OR NEW.enabled IS NOT OLD.enabled OR NEW.nextrun IS NOT OLD.nextrun OR NEW.created IS NOT OLD.created OR NEW.sink IS NOT OLD.sink)
BEGIN
  UPDATE periodic_task SET changed = strftime('%Y-%m-%d %H:%M:%f000', 'now') WHERE id = NEW.id;
END;
CREATE VIEW periodic_health AS
SELECT t.id, t.enabled, t.timer, t.nextrun, t.problem,
       last.due AS last_due, last.decision AS last_decision, last.reason AS last_reason,
       job.state AS last_state, job.finished AS last_finished,
       (SELECT count(*) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'submitted'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS submitted_24h,
       (SELECT count(*) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'skipped'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS skipped_24h,
       (SELECT count(*) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'late'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS late_24h,
       (SELECT coalesce(sum(CASE WHEN k.missed BETWEEN -2147483648 AND 2147483647 THEN abs(k.missed) END), 0)
          FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'missed'
           AND k.due > strftime('%Y-%m-%d %H:%M:%f', 'now', '-24 hours')) AS missed_24h,
       (SELECT count(*) FROM periodic_tick AS q WHERE q.task_id = t.id AND q.decision = 'queued') AS queued
  FROM periodic_task AS t
  LEFT JOIN periodic_tick AS last ON last.task_id = t.id
        AND last.due = (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id)
  LEFT JOIN job ON job.jid = last.jid;
CREATE VIEW periodic_stale AS
WITH usual AS MATERIALIZED (
  -- Of the ten newest successes among the last 1,000 ticks, the median time from the
  -- submission of the job to the success, in seconds, and the latest.
  SELECT t.id, t.task, t.group_, t.timer, t.sink, t.due, t.jitter, coalesce((
      SELECT took FROM (
        SELECT took, row_number() OVER (ORDER BY took) AS n, count(*) OVER () AS runs
          FROM (SELECT (julianday(job.finished) - julianday(last.decided)) * 86400.0 AS took
                  FROM (SELECT k.due, k.jid, k.decision, k.decided FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
                  LEFT JOIN job ON job.jid = last.jid
                 WHERE last.decision = 'submitted' AND job.state = 'success' AND job.finished >= last.decided
                 ORDER BY last.due DESC LIMIT 10))
       WHERE n = runs / 2 + 1), 0) AS usual, (
      SELECT max(done) FROM (
        SELECT CASE WHEN t.sink = 'job' THEN job.finished ELSE last.decided END AS done
          FROM (SELECT k.due, k.jid, k.decision, k.decided FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
          LEFT JOIN job ON job.jid = last.jid
         WHERE last.decision = 'submitted' AND (t.sink <> 'job' OR job.state = 'success')
         ORDER BY last.due DESC LIMIT 10)) AS last_success
    FROM periodic_task AS t
   WHERE t.enabled AND (t.paused IS NULL OR t.paused_until <= strftime('%Y-%m-%d %H:%M:%f', 'now'))
), task AS MATERIALIZED (
  SELECT *, strftime('%Y-%m-%d %H:%M:%f', 'now', printf('-%.3f seconds', 60 + jitter + 2 * usual)) AS by_now FROM usual
), judged AS MATERIALIZED (
  -- The newest tick that must have succeeded by now. One of a pause need not, and nobody
  -- knows of one whose job was deleted.
  SELECT t.*, coalesce(t.due <= t.by_now, 0) AS untaken,
      CASE WHEN t.due <= t.by_now THEN t.due ELSE (
        SELECT max(CASE WHEN last.until <= t.by_now THEN last.until ELSE last.due END)
          FROM (SELECT k.* FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.by_now ORDER BY k.due DESC LIMIT 10) AS last
          LEFT JOIN job ON job.jid = last.jid
         WHERE CASE last.decision WHEN 'skipped' THEN coalesce(last.reason, '') NOT LIKE 'paused%'
                                  WHEN 'submitted' THEN t.sink <> 'job' OR job.state IS NOT NULL
                                  ELSE 1 END) END AS expected
    FROM task AS t
)
SELECT t.id, t.task, t.group_, t.timer, t.expected, t.last_success,
       CASE WHEN t.sink = 'job' THEN 'job' ELSE 'submission' END AS judged_by,
       last.decision, last.reason, job.state
  FROM judged AS t
  LEFT JOIN periodic_tick AS last ON NOT t.untaken AND last.task_id = t.id
        AND last.due = (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.expected)
  LEFT JOIN job ON job.jid = last.jid
 WHERE t.expected IS NOT NULL
   AND (t.untaken OR t.last_success IS NULL OR t.last_success < t.expected)
 ORDER BY t.expected;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('nextrun_migration',23);
COMMIT;
