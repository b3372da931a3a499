-- What PostgreSQL's types refuse, SQLite refuses here, in the tables that nextrun
-- has created itself: ids, names, numbers, marks and times of a wrong type. In
-- tables that were found other programs may write as they always did. Of an update
-- only what it changes is checked, so that a row with an old wrong value can still
-- be worked on.

{{define "long"}}(typeof({{.}}) = 'text'){{end}}
{{define "label"}}(typeof({{.}}) = 'text' AND length({{.}}) <= 254 AND NOT instr(CAST({{.}} AS BLOB), x'00')){{end}}
{{define "name"}}({{template "label" .}} AND {{.}} <> ''){{end}}
{{define "integer"}}(typeof({{.}}) = 'integer' AND {{.}} BETWEEN -2147483648 AND 2147483647){{end}}
{{define "time"}}(typeof({{.}}) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', {{.}}) IS substr({{.}}, 1, 19)
    AND (length({{.}}) = 19 OR substr({{.}}, 20) GLOB '.[0-9]*' AND substr({{.}}, 21) NOT GLOB '*[^0-9]*')){{end}}
{{define "isName"}}must be text of 1 to 254 characters without NUL; write numbers and bytes as text, such as hex(...){{end}}
{{define "isLabel"}}must be text of at most 254 characters without NUL{{end}}
{{define "isLong"}}must be text{{end}}
{{define "isInteger"}}must be an integer of 32 bits{{end}}
{{define "isTime"}}must be a UTC time of an existing day, YYYY-MM-DD HH:MM:SS[.ffffff], such as datetime(''now'') gives{{end}}

-- +goose Up
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
    WHEN {{if eq . "update"}}NEW.heartbeat IS NOT OLD.heartbeat AND {{end}}NEW.heartbeat IS NOT NULL AND NOT {{template "time" "NEW.heartbeat"}} THEN RAISE(ABORT, 'job: heartbeat {{template "isTime"}}, or NULL')
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
  BEFORE UPDATE OF state, retries, progress, interrupts, worker, startedmillis, started, finished, heartbeat, cancel, retry,
                   result ON job
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

{{define "taskMark"}}
  SELECT CASE
    WHEN NEW.worker IS NOT NULL AND NOT {{template "label" "NEW.worker"}} THEN RAISE(ABORT, 'periodic_task: worker {{template "isLabel"}}, or NULL; leave it to the scheduler')
    WHEN NEW.marked IS NOT NULL AND NOT {{template "time" "NEW.marked"}} THEN RAISE(ABORT, 'periodic_task: marked {{template "isTime"}}, or NULL; leave it to the scheduler')
    WHEN NEW.problem IS NOT NULL AND NOT {{template "long" "NEW.problem"}} THEN RAISE(ABORT, 'periodic_task: problem {{template "isLong"}}, or NULL')
  END;
{{end}}
{{define "taskPriority"}}
  SELECT RAISE(ABORT, 'periodic_task: priority {{template "isInteger"}}: 0 is low, 10 is high')
   WHERE NOT {{template "integer" "NEW.priority"}};
{{end}}
{{if not (found "periodic_task")}}
-- Rows whose marks were of a wrong type would hide the marks of others.
UPDATE periodic_task SET worker = NULL, marked = NULL WHERE marked IS NOT NULL AND typeof(marked) <> 'text' OR typeof(worker) NOT IN ('text', 'null');
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_values_added BEFORE INSERT ON periodic_task
BEGIN
{{template "taskMark"}}
{{template "taskPriority"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_values_edited BEFORE UPDATE OF priority ON periodic_task
BEGIN
{{template "taskPriority"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_marked BEFORE UPDATE OF worker, marked, problem ON periodic_task
  WHEN NEW.worker IS NOT NULL OR NEW.marked IS NOT NULL OR NEW.problem IS NOT NULL
BEGIN
{{template "taskMark"}}
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
-- +goose StatementBegin
CREATE TRIGGER nextrun_event_refuse_placed BEFORE UPDATE OF position ON event_store
  WHEN typeof(NEW.position) NOT IN ('integer', 'null')
BEGIN
  SELECT RAISE(ABORT, 'event_store: position must be an integer, or NULL; leave it to the relay');
END;
-- +goose StatementEnd

{{define "message"}}
  SELECT CASE
    WHEN NOT {{template "name" "NEW.event_id"}} THEN RAISE(ABORT, 'outbox_message: event_id {{template "isName"}}')
    WHEN NOT {{template "name" "NEW.topic"}} THEN RAISE(ABORT, 'outbox_message: topic {{template "isName"}}')
    WHEN NOT {{template "time" "NEW.created"}} THEN RAISE(ABORT, 'outbox_message: created {{template "isTime"}}')
    WHEN NOT {{template "integer" "NEW.attempts"}} THEN RAISE(ABORT, 'outbox_message: attempts {{template "isInteger"}}')
    WHEN NOT {{template "integer" "NEW.refusals"}} THEN RAISE(ABORT, 'outbox_message: refusals {{template "isInteger"}}')
    WHEN NEW.published IS NOT NULL AND NOT {{template "time" "NEW.published"}} THEN RAISE(ABORT, 'outbox_message: published {{template "isTime"}}, or NULL')
    WHEN NEW.retry IS NOT NULL AND NOT {{template "time" "NEW.retry"}} THEN RAISE(ABORT, 'outbox_message: retry {{template "isTime"}}, or NULL')
    WHEN NEW.dead IS NOT NULL AND NOT {{template "time" "NEW.dead"}} THEN RAISE(ABORT, 'outbox_message: dead {{template "isTime"}}, or NULL')
    WHEN NEW.problem IS NOT NULL AND NOT {{template "long" "NEW.problem"}} THEN RAISE(ABORT, 'outbox_message: problem {{template "isLong"}}, or NULL')
  END;
{{end}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_message_refuse_added BEFORE INSERT ON outbox_message
BEGIN
{{template "message"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
-- Only what an update changes is checked: the relay must be able to set aside a
-- message that held such a value before there was this trigger.
CREATE TRIGGER nextrun_message_refuse_edited BEFORE UPDATE ON outbox_message
BEGIN
  SELECT CASE
    WHEN NEW.event_id IS NOT OLD.event_id AND NOT {{template "name" "NEW.event_id"}} THEN RAISE(ABORT, 'outbox_message: event_id {{template "isName"}}')
    WHEN NEW.topic IS NOT OLD.topic AND NOT {{template "name" "NEW.topic"}} THEN RAISE(ABORT, 'outbox_message: topic {{template "isName"}}')
    WHEN NEW.created IS NOT OLD.created AND NOT {{template "time" "NEW.created"}} THEN RAISE(ABORT, 'outbox_message: created {{template "isTime"}}')
    WHEN NEW.attempts IS NOT OLD.attempts AND NOT {{template "integer" "NEW.attempts"}} THEN RAISE(ABORT, 'outbox_message: attempts {{template "isInteger"}}')
    WHEN NEW.refusals IS NOT OLD.refusals AND NOT {{template "integer" "NEW.refusals"}} THEN RAISE(ABORT, 'outbox_message: refusals {{template "isInteger"}}')
    WHEN NEW.published IS NOT OLD.published AND NEW.published IS NOT NULL AND NOT {{template "time" "NEW.published"}} THEN RAISE(ABORT, 'outbox_message: published {{template "isTime"}}, or NULL')
    WHEN NEW.retry IS NOT OLD.retry AND NEW.retry IS NOT NULL AND NOT {{template "time" "NEW.retry"}} THEN RAISE(ABORT, 'outbox_message: retry {{template "isTime"}}, or NULL')
    WHEN NEW.dead IS NOT OLD.dead AND NEW.dead IS NOT NULL AND NOT {{template "time" "NEW.dead"}} THEN RAISE(ABORT, 'outbox_message: dead {{template "isTime"}}, or NULL')
    WHEN NEW.problem IS NOT OLD.problem AND NEW.problem IS NOT NULL AND NOT {{template "long" "NEW.problem"}} THEN RAISE(ABORT, 'outbox_message: problem {{template "isLong"}}, or NULL')
  END;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER nextrun_message_refuse_edited;
DROP TRIGGER nextrun_message_refuse_added;
DROP TRIGGER nextrun_event_refuse_placed;
DROP TRIGGER nextrun_event_refuse_edited;
DROP TRIGGER nextrun_event_refuse_added;
{{if not (found "periodic_task")}}
DROP TRIGGER nextrun_task_refuse_marked;
DROP TRIGGER nextrun_task_refuse_values_edited;
DROP TRIGGER nextrun_task_refuse_values_added;
{{end}}
{{if not (found "joblog")}}
DROP TRIGGER nextrun_joblog_refuse_edited;
DROP TRIGGER nextrun_joblog_refuse_added;
{{end}}
{{if not (found "job")}}
DROP TRIGGER nextrun_job_refuse_moved;
DROP TRIGGER nextrun_job_refuse_edited;
DROP TRIGGER nextrun_job_refuse_added;
{{end}}
