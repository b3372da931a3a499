-- Tasks that are paused after failures. What the columns mean is said in the comments of
-- postgres/00029_failures.sql.

-- +goose Up
ALTER TABLE periodic_task ADD COLUMN pause_after integer
  CONSTRAINT nextrun_pause_after CHECK (pause_after IS NULL OR typeof(pause_after) = 'integer' AND pause_after BETWEEN 1 AND 1000000);
ALTER TABLE periodic_task ADD COLUMN probe_delay integer
  CONSTRAINT nextrun_probe_delay CHECK (probe_delay IS NULL OR typeof(probe_delay) = 'integer' AND probe_delay BETWEEN 1 AND 31536000);
ALTER TABLE periodic_task ADD COLUMN failures integer NOT NULL DEFAULT 0
  CONSTRAINT nextrun_failures CHECK (typeof(failures) = 'integer' AND failures BETWEEN 0 AND 2147483647);
ALTER TABLE periodic_tick ADD COLUMN turned varchar(16)
  CONSTRAINT nextrun_turned CHECK (turned IN ('failing', 'failing, paused', 'paused', 'recovered'));

-- What the end of a tick's job does to its task, in the transaction that records the end. The first
-- statement reads the task as it was before. paused_by is 'nextrun' of these pauses alone: what
-- somebody else paused stays paused.
{{define "pauses"}}failures + 1 >= pause_after AND (paused IS NULL OR paused_by = 'nextrun' OR paused_until <= {{.}}){{end}}
{{define "turned"}}
  UPDATE periodic_tick SET turned = (
      SELECT nullif(CASE WHEN failures = 0 THEN 'failing' ELSE '' END ||
        CASE WHEN NOT coalesce({{template "pauses" .}}, 0) OR paused IS NOT NULL AND coalesce(paused_by, '') = 'nextrun' THEN ''
             WHEN failures = 0 THEN ', paused' ELSE 'paused' END, '')
        FROM periodic_task WHERE id = periodic_tick.task_id)
   WHERE due = NEW.due AND task_id ={{end}}
{{define "failed"}}  UPDATE periodic_task SET failures = min(failures, 2147483646) + 1,
      (paused, paused_until, paused_by, paused_reason) = (SELECT
        CASE WHEN NOT pauses OR own THEN paused ELSE {{.}} END,
        CASE WHEN NOT pauses THEN paused_until WHEN probe_delay IS NOT NULL THEN strftime('%Y-%m-%d %H:%M:%f000', {{.}},
          printf('+%d seconds', min(probe_delay * (1 << min(failures + 1 - pause_after, 30)), max(86400, probe_delay)))) END,
        CASE WHEN pauses THEN 'nextrun' ELSE paused_by END,
        CASE WHEN pauses THEN substr(printf('paused after %d %s in a row; the last: ', failures + 1, CASE failures WHEN 0 THEN 'failure' ELSE 'failures' END) ||
          coalesce(nullif(replace(replace(replace(said, char(10), ' '), char(13), ' '), char(9), ' '), ''), 'it did not say why'), 1, 254) ELSE paused_reason END
        FROM (SELECT coalesce({{template "pauses" .}}, 0) AS pauses, paused IS NOT NULL AND coalesce(paused_by, '') = 'nextrun' AS own,{{end}}
{{define "recovered"}}
  UPDATE periodic_tick SET turned = 'recovered' WHERE task_id = NEW.{{.}} AND due = NEW.due;
  UPDATE periodic_task SET failures = 0, paused = CASE WHEN paused_by = 'nextrun' THEN NULL ELSE paused END WHERE id = NEW.{{.}};
{{end}}
-- A success without failures before it writes nothing.
-- +goose StatementBegin
CREATE TRIGGER nextrun_job_failed AFTER UPDATE OF state ON job
  WHEN NEW.state = 'failed' AND OLD.state IN ('waiting', 'scheduled', 'running', 'stuck') AND NEW.due IS NOT NULL
BEGIN
{{template "turned" "coalesce(CASE WHEN NEW.finished BETWEEN '1970-01-01' AND '9000' THEN strftime('%Y-%m-%d %H:%M:%f000', NEW.finished) END, strftime('%Y-%m-%d %H:%M:%f000', 'now'))"}} NEW.tracker;
{{template "failed" "coalesce(CASE WHEN NEW.finished BETWEEN '1970-01-01' AND '9000' THEN strftime('%Y-%m-%d %H:%M:%f000', NEW.finished) END, strftime('%Y-%m-%d %H:%M:%f000', 'now'))"}} NEW.result AS said))
   WHERE id = NEW.tracker;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_job_recovered AFTER UPDATE OF state ON job
  WHEN NEW.state = 'success' AND OLD.state IN ('waiting', 'scheduled', 'running', 'stuck') AND NEW.due IS NOT NULL
   AND EXISTS (SELECT 1 FROM periodic_task WHERE id = NEW.tracker AND failures > 0)
BEGIN
{{template "recovered" "tracker"}}
END;
-- +goose StatementEnd

-- The same for a job of another queue. One in the table job has been counted when it ended.
-- +goose StatementBegin
CREATE TRIGGER nextrun_tick_failed AFTER UPDATE OF outcome ON periodic_tick
  WHEN OLD.outcome IS NULL AND NEW.outcome = 'failed'
   AND EXISTS (SELECT 1 FROM periodic_task WHERE id = NEW.task_id AND sink <> 'job')
BEGIN
{{template "turned" "strftime('%Y-%m-%d %H:%M:%f000', 'now')"}} NEW.task_id;
{{template "failed" "strftime('%Y-%m-%d %H:%M:%f000', 'now')"}} NEW.error AS said))
   WHERE id = NEW.task_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_tick_recovered AFTER UPDATE OF outcome ON periodic_tick
  WHEN OLD.outcome IS NULL AND NEW.outcome IN ('success', 'gone')
   AND EXISTS (SELECT 1 FROM periodic_task WHERE id = NEW.task_id AND sink <> 'job' AND failures > 0)
BEGIN
{{template "recovered" "task_id"}}
END;
-- +goose StatementEnd

-- A pause as before. But who pauses a task again that was paused after failures means another
-- pause, which no success ends.
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
{{define "paused"}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_paused AFTER UPDATE OF paused, paused_until ON periodic_task
  WHEN NEW.paused IS NOT OLD.paused OR NEW.paused_until IS NOT OLD.paused_until
BEGIN
  UPDATE periodic_task
     SET worker = NULL, marked = NULL,
         paused_by     = CASE WHEN (NEW.paused IS NOT NULL OR OLD.paused IS NULL){{.}} THEN NEW.paused_by END,
         paused_reason = CASE WHEN (NEW.paused IS NOT NULL OR OLD.paused IS NULL) AND (1{{.}} OR NEW.paused_reason IS NOT OLD.paused_reason) THEN NEW.paused_reason END,
         (paused, paused_until) = (SELECT since,
           CASE WHEN since IS NULL AND OLD.paused IS NOT NULL THEN NULL
                WHEN since IS NOT OLD.paused AND till <= since AND till IS OLD.paused_until THEN NULL
                WHEN till IS OLD.paused_until AND NOT (1{{.}}) THEN NULL
                ELSE till END
           FROM (SELECT CASE WHEN NEW.paused IS NOT NULL THEN {{template "utc" "NEW.paused"}} END AS since,
                        CASE WHEN NEW.paused_until IS NOT NULL THEN {{template "utc" "NEW.paused_until"}} END AS till))
   WHERE id = NEW.id;
  INSERT INTO periodic_ready (task_id) SELECT NEW.id
   WHERE EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = NEW.id AND decision = 'queued')
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = NEW.id);
END;
-- +goose StatementEnd
{{end}}
DROP TRIGGER nextrun_task_paused;
{{template "paused" " AND NOT (NEW.paused IS NOT NULL AND OLD.paused IS NOT NULL AND NEW.paused IS NOT OLD.paused AND coalesce(OLD.paused_by, '') = 'nextrun' AND coalesce(NEW.paused_by, '') = 'nextrun')"}}

-- +goose Down
DROP TRIGGER IF EXISTS nextrun_task_paused;
{{template "paused" ""}}
DROP TRIGGER IF EXISTS nextrun_tick_recovered;
DROP TRIGGER IF EXISTS nextrun_tick_failed;
DROP TRIGGER IF EXISTS nextrun_job_recovered;
DROP TRIGGER IF EXISTS nextrun_job_failed;
ALTER TABLE periodic_tick DROP COLUMN turned;
ALTER TABLE periodic_task DROP COLUMN pause_after;
ALTER TABLE periodic_task DROP COLUMN probe_delay;
ALTER TABLE periodic_task DROP COLUMN failures;
