-- Tasks can be paused: their timers go on, and what falls due is skipped. The
-- definition of a task, its plan and its queued ticks stay as they are.

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
ALTER TABLE periodic_task ADD COLUMN paused       timestamp;
ALTER TABLE periodic_task ADD COLUMN paused_until timestamp;
ALTER TABLE periodic_task ADD COLUMN paused_by     varchar(254) CONSTRAINT nextrun_paused_by
  CHECK (paused_by IS NULL OR typeof(paused_by) = 'text' AND length(paused_by) <= 254 AND NOT instr(CAST(paused_by AS BLOB), x'00'));
ALTER TABLE periodic_task ADD COLUMN paused_reason varchar(254) CONSTRAINT nextrun_paused_reason
  CHECK (paused_reason IS NULL OR typeof(paused_reason) = 'text' AND length(paused_reason) <= 254 AND NOT instr(CAST(paused_reason AS BLOB), x'00'));
-- When pauses end by themselves.
CREATE INDEX nextrun_task_paused_until ON periodic_task (paused_until) WHERE paused IS NOT NULL;

{{define "refusePause"}}
  SELECT RAISE(ABORT, 'periodic_task: paused must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.paused IS NOT NULL AND {{template "utc" "NEW.paused"}} IS NULL;
  SELECT RAISE(ABORT, 'periodic_task: paused_until must be a UTC time of an existing day, YYYY-MM-DD HH:MM[:SS[.ffffff]], between 1970-01-01 and 9999-12-31, or NULL; an offset or Z may follow')
    WHERE NEW.paused_until IS NOT NULL AND {{template "utc" "NEW.paused_until"}} IS NULL;
{{end}}
{{define "storePause"}}
         paused       = CASE WHEN NEW.paused IS NOT NULL THEN {{template "utc" "NEW.paused"}} END,
         paused_until = CASE WHEN NEW.paused_until IS NOT NULL THEN {{template "utc" "NEW.paused_until"}} END
{{end}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_paused BEFORE UPDATE OF paused, paused_until ON periodic_task
  WHEN NEW.paused IS NOT OLD.paused OR NEW.paused_until IS NOT OLD.paused_until
BEGIN
{{template "refusePause"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_refuse_paused_added BEFORE INSERT ON periodic_task
  WHEN NEW.paused IS NOT NULL OR NEW.paused_until IS NOT NULL
BEGIN
{{template "refusePause"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_paused_added AFTER INSERT ON periodic_task
  WHEN NEW.paused IS NOT NULL OR NEW.paused_until IS NOT NULL
BEGIN
  UPDATE periodic_task SET {{template "storePause"}} WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- A scheduler that marked the row decided without the pause, so it loses the row. The
-- plan stays. Queued ticks may go when a pause ends.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_paused AFTER UPDATE OF paused, paused_until ON periodic_task
  WHEN NEW.paused IS NOT OLD.paused OR NEW.paused_until IS NOT OLD.paused_until
BEGIN
  UPDATE periodic_task SET worker = NULL, marked = NULL, {{template "storePause"}} WHERE id = NEW.id;
  INSERT INTO periodic_ready (task_id) SELECT NEW.id
   WHERE EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = NEW.id AND decision = 'queued')
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = NEW.id);
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER nextrun_task_paused;
DROP TRIGGER nextrun_task_paused_added;
DROP TRIGGER nextrun_task_refuse_paused_added;
DROP TRIGGER nextrun_task_refuse_paused;
DROP INDEX nextrun_task_paused_until;
ALTER TABLE periodic_task DROP COLUMN paused;
ALTER TABLE periodic_task DROP COLUMN paused_until;
ALTER TABLE periodic_task DROP COLUMN paused_by;
ALTER TABLE periodic_task DROP COLUMN paused_reason;
