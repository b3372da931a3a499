-- Periodic tasks: the table of Docspell's ADR 0012 with nextrun's own columns,
-- the triggers that let an edit win over a batch in hand, and the record of
-- what became of every tick. Only what SQLite 3.37 has, so that the sqlite3
-- program can be used.

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

-- +goose Up
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
  summary   varchar(254)
);
{{else if not (found "periodic_task.summary")}}
ALTER TABLE periodic_task ADD COLUMN summary varchar(254);
{{end}}

ALTER TABLE periodic_task ADD COLUMN due      timestamp
  CONSTRAINT nextrun_due CHECK (due IS NULL OR {{template "canonical" "due"}} AND strftime('%Y-%m-%d %H:%M:%S', due) IS substr(due, 1, 19));
ALTER TABLE periodic_task ADD COLUMN starts   timestamp;
ALTER TABLE periodic_task ADD COLUMN ends     timestamp;
ALTER TABLE periodic_task ADD COLUMN overlap  varchar(16) NOT NULL DEFAULT 'skip'
  CONSTRAINT nextrun_overlap CHECK (overlap IN ('skip', 'queue', 'replace', 'allow'));
ALTER TABLE periodic_task ADD COLUMN catchup  varchar(16) NOT NULL DEFAULT 'one'
  CONSTRAINT nextrun_catchup CHECK (catchup IN ('one', 'none', 'all'));
ALTER TABLE periodic_task ADD COLUMN grace    integer NOT NULL DEFAULT 60
  CONSTRAINT nextrun_grace CHECK (typeof(grace) = 'integer' AND grace BETWEEN 0 AND 2147483647);
ALTER TABLE periodic_task ADD COLUMN deadline integer
  CONSTRAINT nextrun_deadline CHECK (deadline IS NULL OR typeof(deadline) = 'integer' AND deadline BETWEEN 0 AND 2147483647);
ALTER TABLE periodic_task ADD COLUMN jitter   integer NOT NULL DEFAULT 0
  CONSTRAINT nextrun_jitter CHECK (typeof(jitter) = 'integer' AND jitter BETWEEN 0 AND 2147483647);
ALTER TABLE periodic_task ADD COLUMN sink     varchar(16) NOT NULL DEFAULT 'job'
  CONSTRAINT nextrun_sink CHECK (sink IN ('job', 'event'));
ALTER TABLE periodic_task ADD COLUMN problem  text;

{{if found "periodic_task"}}
-- The same times in the one form, by which the triggers below know a row.
UPDATE periodic_task SET nextrun = coalesce({{template "utc" "periodic_task.nextrun"}}, nextrun),
                         created = coalesce({{template "utc" "periodic_task.created"}}, created);
{{end}}

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
) WITHOUT ROWID;
CREATE INDEX nextrun_tick_queued ON periodic_tick (task_id, due) WHERE decision = 'queued';

{{define "refuseNextrun"}}
  SELECT RAISE(ABORT, 'periodic_task: nextrun must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; an offset or Z may follow')
    WHERE {{template "utc" "NEW.nextrun"}} IS NULL;
{{end}}
{{define "refuse"}}
  SELECT RAISE(ABORT, 'periodic_task: enabled must be 0 or 1 (or false, true)')
    WHERE NEW.enabled IS NOT 0 AND NEW.enabled IS NOT 1;
  {{template "refuseNextrun"}}
  SELECT RAISE(ABORT, 'periodic_task: starts must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.starts IS NOT NULL AND {{template "utc" "NEW.starts"}} IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: ends must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.ends IS NOT NULL AND {{template "utc" "NEW.ends"}} IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: ends must be later than starts')
    WHERE {{template "utc" "NEW.starts"}} >= {{template "utc" "NEW.ends"}};
  SELECT RAISE(ABORT, 'periodic_task: created must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31; an offset or Z may follow')
    WHERE {{template "utc" "NEW.created"}} IS NULL;
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
{{end}}

-- What PostgreSQL's types and CHECKs refuse, SQLite refuses here.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_added BEFORE INSERT ON periodic_task
BEGIN
{{template "refuse"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_edited
  BEFORE UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, created, summary,
                   starts, ends ON periodic_task
BEGIN
{{template "refuse"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_moved BEFORE UPDATE OF nextrun ON periodic_task WHEN NEW.due IS OLD.due
BEGIN
{{template "refuseNextrun"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_planned BEFORE UPDATE OF due ON periodic_task
  WHEN NEW.due IS NOT OLD.due AND NOT {{template "canonical" "NEW.nextrun"}}
BEGIN
  SELECT RAISE(ABORT, 'periodic_task: due is for the scheduler to write, and nextrun with it as YYYY-MM-DD HH:MM:SS.ffffff');
END;
-- +goose StatementEnd

-- Times in other accepted forms are stored in the one form, and args that are
-- not JSON get a warning.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_added AFTER INSERT ON periodic_task
  WHEN NOT ({{template "canonical" "NEW.nextrun"}} AND {{template "canonical" "NEW.created"}}
            AND (NEW.starts IS NULL OR {{template "canonical" "NEW.starts"}})
            AND (NEW.ends IS NULL OR {{template "canonical" "NEW.ends"}})
            AND json_valid(NEW.args))
BEGIN
  UPDATE periodic_task
     SET problem = CASE WHEN NOT json_valid(NEW.args) THEN 'warning: args is not JSON' END,
         nextrun = {{template "utc" "NEW.nextrun"}},
         created = {{template "utc" "NEW.created"}},
         starts  = CASE WHEN NEW.starts IS NOT NULL THEN {{template "utc" "NEW.starts"}} END,
         ends    = CASE WHEN NEW.ends IS NOT NULL THEN {{template "utc" "NEW.ends"}} END
   WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- An edit takes the row out of the hands of a scheduler that marked it, and
-- has it planned anew where the plan may have changed. A scheduler's own
-- updates change `due`, or only columns that are not named here. A row whose
-- old times are not in the one form is just being added.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_edited
  AFTER UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, created, summary,
                  starts, ends, overlap, catchup, grace, deadline, jitter, sink ON periodic_task
  WHEN NEW.due IS OLD.due
   AND {{template "canonical" "OLD.nextrun"}} AND {{template "canonical" "OLD.created"}}
   AND (OLD.starts IS NULL OR {{template "canonical" "OLD.starts"}})
   AND (OLD.ends IS NULL OR {{template "canonical" "OLD.ends"}})
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
         created = {{template "utc" "NEW.created"}},
         starts  = CASE WHEN NEW.starts IS NOT NULL THEN {{template "utc" "NEW.starts"}} END,
         ends    = CASE WHEN NEW.ends IS NOT NULL THEN {{template "utc" "NEW.ends"}} END,
         (nextrun, due) = (SELECT
           CASE WHEN moved THEN utc WHEN anew THEN '1970-01-01 00:00:00.000000' ELSE OLD.nextrun END,
           CASE WHEN moved OR anew THEN NULL ELSE OLD.due END
           FROM (SELECT utc, utc IS NOT OLD.nextrun AS moved,
                   NEW.timer IS NOT OLD.timer OR NEW.starts IS NOT OLD.starts OR NEW.ends IS NOT OLD.ends
                   OR (NEW.enabled AND NOT OLD.enabled)
                   OR coalesce(OLD.due >= '9999-12-31 23:59:59', 0) AS anew
                 FROM (SELECT {{template "utc" "NEW.nextrun"}} AS utc)))
   WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- Queued ticks of a task that is gone wait for nothing.
{{define "orphan"}}
  UPDATE periodic_tick SET decision = 'skipped', reason = 'the task was deleted while the tick waited',
         decided = strftime('%Y-%m-%d %H:%M:%f000', 'now')
   WHERE task_id = OLD.id AND decision = 'queued';
{{end}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_deleted AFTER DELETE ON periodic_task
BEGIN
{{template "orphan"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_renamed AFTER UPDATE OF id ON periodic_task WHEN NEW.id IS NOT OLD.id
BEGIN
{{template "orphan"}}
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER nextrun_task_renamed;
DROP TRIGGER nextrun_task_deleted;
DROP TABLE periodic_tick;
DROP TRIGGER nextrun_task_edited;
DROP TRIGGER nextrun_task_added;
DROP TRIGGER nextrun_task_refuse_planned;
DROP TRIGGER nextrun_task_refuse_moved;
DROP TRIGGER nextrun_task_refuse_edited;
DROP TRIGGER nextrun_task_refuse_added;
{{if not (found "periodic_task")}}
DROP TABLE periodic_task;
{{else}}
DROP INDEX nextrun_task_due;
DROP INDEX nextrun_task_marked;
ALTER TABLE periodic_task DROP COLUMN due;
ALTER TABLE periodic_task DROP COLUMN starts;
ALTER TABLE periodic_task DROP COLUMN ends;
ALTER TABLE periodic_task DROP COLUMN overlap;
ALTER TABLE periodic_task DROP COLUMN catchup;
ALTER TABLE periodic_task DROP COLUMN grace;
ALTER TABLE periodic_task DROP COLUMN deadline;
ALTER TABLE periodic_task DROP COLUMN jitter;
ALTER TABLE periodic_task DROP COLUMN sink;
ALTER TABLE periodic_task DROP COLUMN problem;
{{if not (found "periodic_task.summary")}}
ALTER TABLE periodic_task DROP COLUMN summary;
{{end}}
{{end}}
