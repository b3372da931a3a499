-- Windows: calendars that hold all tasks, or those of a group, whether these name them or not. What the columns mean
-- is said in the comments of postgres/00027_windows.sql.

-- +goose Up
{{define "time"}}({{.}} IS NULL OR typeof({{.}}) = 'text' AND strftime('%Y-%m-%d %H:%M:%S', {{.}}) IS substr({{.}}, 1, 19)
    AND (length({{.}}) = 19 OR substr({{.}}, 20) GLOB '.[0-9]*' AND substr({{.}}, 21) NOT GLOB '*[^0-9]*')){{end}}
ALTER TABLE periodic_calendar ADD COLUMN scope varchar(254) CONSTRAINT nextrun_calendar_scope
  CHECK (scope IS NULL OR typeof(scope) = 'text' AND length(scope) <= 254 AND NOT instr(CAST(scope AS BLOB), x'00') AND (scope = 'all' OR scope GLOB 'group:?*'));
ALTER TABLE periodic_calendar ADD COLUMN at_end varchar(16) CONSTRAINT nextrun_calendar_at_end
  CHECK (at_end IS NULL OR at_end IN ('skip', 'once') AND scope IS NOT NULL);
ALTER TABLE periodic_calendar ADD COLUMN since timestamp CONSTRAINT nextrun_calendar_since CHECK {{template "time" "since"}};

-- +goose StatementBegin
CREATE TRIGGER nextrun_calendar_since AFTER INSERT ON periodic_calendar WHEN NEW.since IS NULL
BEGIN
  UPDATE periodic_calendar SET since = strftime('%Y-%m-%d %H:%M:%f000', 'now') WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER IF EXISTS nextrun_calendar_since;
ALTER TABLE periodic_calendar DROP COLUMN at_end;
ALTER TABLE periodic_calendar DROP COLUMN scope;
ALTER TABLE periodic_calendar DROP COLUMN since;
