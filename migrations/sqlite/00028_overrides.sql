-- One occurrence: what people decide about one tick of a task. What the columns mean is said in the
-- comments of postgres/00028_overrides.sql.

-- +goose Up
{{define "when"}}(typeof({{.}}) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', {{.}}) IS substr({{.}}, 1, 19) AND {{.}} >= '1970-01-01'
    AND (length({{.}}) = 19 OR substr({{.}}, 20) GLOB '.[0-9]*' AND substr({{.}}, 21) NOT GLOB '*[^0-9]*')){{end}}
{{define "micro"}}(substr({{.}}, 1, 19) || '.' || substr(substr({{.}}, 21) || '000000', 1, 6)){{end}}
{{define "line"}}({{.}} IS NULL OR typeof({{.}}) = 'text' AND length({{.}}) <= 254 AND NOT instr(CAST({{.}} AS BLOB), x'00')){{end}}
CREATE TABLE periodic_override (
  task_id  varchar(254) NOT NULL CONSTRAINT nextrun_override_task CHECK {{template "line" "task_id"}},
  due      timestamp    NOT NULL CONSTRAINT nextrun_override_due CHECK {{template "when" "due"}},
  moved_to timestamp    CONSTRAINT nextrun_override_moved CHECK (moved_to IS NULL OR {{template "when" "moved_to"}}),
  reason   varchar(254) CONSTRAINT nextrun_override_reason CHECK {{template "line" "reason"}},
  who      varchar(254) CONSTRAINT nextrun_override_who CHECK {{template "line" "who"}},
  created  timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')) CONSTRAINT nextrun_override_created CHECK {{template "when" "created"}},
  PRIMARY KEY (task_id, due),
  CONSTRAINT nextrun_override_moves CHECK ({{template "micro" "moved_to"}} <> {{template "micro" "due"}})
);

{{define "now"}}strftime('%Y-%m-%d %H:%M:%f000', 'now'){{end}}
{{define "check"}}
  SELECT RAISE(ABORT, 'periodic_override: there is no such task; use the id of a row of periodic_task')
   WHERE NOT EXISTS (SELECT 1 FROM periodic_task WHERE id = NEW.task_id);
  SELECT RAISE(ABORT, 'periodic_override: the tick is in the past, or decided already; name one to come')
   WHERE {{template "micro" "NEW.due"}} <= {{template "now"}}
     AND {{template "micro" "NEW.due"}} IS NOT (SELECT due FROM periodic_task WHERE id = NEW.task_id)
     {{if eq . "OLD"}}AND (NEW.due <> OLD.due OR (OLD.moved_to > {{template "now"}} OR OLD.moved_to = (SELECT due FROM periodic_task WHERE id = NEW.task_id)) IS NOT 1){{end}};
  UPDATE periodic_override SET due = {{template "micro" "due"}}, moved_to = {{template "micro" "moved_to"}}, created = {{template "now"}}
   WHERE task_id = NEW.task_id AND due = NEW.due;
{{end}}
-- A move may give another plan; a tick that is due already is decided as it was planned.
{{define "replan"}}
  UPDATE periodic_task
     SET nextrun = CASE WHEN {{.}}.moved_to IS NOT NULL AND (due > {{template "now"}} {{if eq . "OLD"}}OR due = OLD.moved_to{{end}})
                        THEN '1970-01-01 00:00:00.000000' ELSE nextrun END,
         changed = {{template "now"}}
   WHERE id = {{.}}.task_id AND (max({{.}}.due, coalesce({{.}}.moved_to, '')) > {{template "now"}} OR due IN ({{.}}.due, {{.}}.moved_to));
{{end}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_override_added AFTER INSERT ON periodic_override
BEGIN
{{template "check" "NEW"}}
{{template "replan" "NEW"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_override_edited AFTER UPDATE OF task_id, due, moved_to ON periodic_override
  WHEN NEW.task_id IS NOT OLD.task_id OR {{template "micro" "NEW.due"}} IS NOT {{template "micro" "OLD.due"}}
    OR {{template "micro" "NEW.moved_to"}} IS NOT {{template "micro" "OLD.moved_to"}}
BEGIN
{{template "check" "OLD"}}
{{template "replan" "OLD"}}
{{template "replan" "NEW"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_override_deleted AFTER DELETE ON periodic_override
BEGIN
{{template "replan" "OLD"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_override_orphans AFTER DELETE ON periodic_task
BEGIN
  DELETE FROM periodic_override WHERE task_id = OLD.id;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER IF EXISTS nextrun_override_orphans;
DROP TABLE IF EXISTS periodic_override;
