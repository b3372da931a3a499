-- Days that are different: calendars, and the tasks that name them. What the columns mean is said in
-- the comments of postgres/00025_calendars.sql.

-- +goose Up
{{define "day"}}({{.}} IS NULL OR typeof({{.}}) = 'text' AND date({{.}}) IS {{.}} AND {{.}} >= '1970-01-01'){{end}}
{{define "line"}}({{.}} IS NULL OR typeof({{.}}) = 'text' AND length({{.}}) <= 254 AND NOT instr(CAST({{.}} AS BLOB), x'00')){{end}}
CREATE TABLE periodic_calendar (
  id        integer PRIMARY KEY,
  name      varchar(64) NOT NULL CONSTRAINT nextrun_calendar_name
            CHECK (typeof(name) = 'text' AND length(name) <= 64 AND name GLOB '[A-Za-z0-9]*' AND name NOT GLOB '*[^A-Za-z0-9._-]*'),
  first_day date CONSTRAINT nextrun_calendar_first CHECK {{template "day" "first_day"}},
  last_day  date CONSTRAINT nextrun_calendar_last CHECK {{template "day" "last_day"}},
  timer     varchar(254) CONSTRAINT nextrun_calendar_timer CHECK {{template "line" "timer"}},
  length    integer CONSTRAINT nextrun_calendar_length CHECK (length IS NULL OR typeof(length) = 'integer' AND length BETWEEN 1 AND 31536000),
  reason    varchar(254) CONSTRAINT nextrun_calendar_reason CHECK {{template "line" "reason"}},
  CONSTRAINT nextrun_calendar_days CHECK (last_day >= first_day),
  CONSTRAINT nextrun_calendar_kind CHECK (CASE WHEN timer IS NULL THEN first_day IS NOT NULL AND length IS NULL
    ELSE first_day IS NULL AND last_day IS NULL AND length IS NOT NULL END)
);
CREATE INDEX nextrun_calendar_by_name ON periodic_calendar (name);

CREATE TABLE periodic_calendar_edition (
  one     boolean NOT NULL DEFAULT 1 PRIMARY KEY CONSTRAINT nextrun_edition_one CHECK (one IS 1),
  edition bigint  NOT NULL CONSTRAINT nextrun_edition CHECK (typeof(edition) = 'integer')
);
INSERT INTO periodic_calendar_edition (edition) VALUES (1);

ALTER TABLE periodic_task ADD COLUMN exclude_calendars varchar(254)
  CONSTRAINT nextrun_exclude_calendars CHECK {{template "line" "exclude_calendars"}};
ALTER TABLE periodic_task ADD COLUMN run_calendars varchar(254)
  CONSTRAINT nextrun_run_calendars CHECK {{template "line" "run_calendars"}};
ALTER TABLE periodic_task ADD COLUMN on_excluded varchar(16) NOT NULL DEFAULT 'skip'
  CONSTRAINT nextrun_on_excluded CHECK (on_excluded IN ('skip', 'next', 'previous'));
CREATE INDEX nextrun_task_calendars ON periodic_task (id) WHERE exclude_calendars IS NOT NULL OR run_calendars IS NOT NULL;

ALTER TABLE periodic_tick ADD COLUMN nominal timestamp;

-- Another plan may follow from other calendars.
-- +goose StatementBegin
CREATE TRIGGER nextrun_task_days AFTER UPDATE OF exclude_calendars, run_calendars, on_excluded ON periodic_task
  WHEN NEW.exclude_calendars IS NOT OLD.exclude_calendars OR NEW.run_calendars IS NOT OLD.run_calendars OR NEW.on_excluded IS NOT OLD.on_excluded
BEGIN
  UPDATE periodic_task SET nextrun = '1970-01-01 00:00:00.000000' WHERE id = NEW.id AND NEW.nextrun IS OLD.nextrun;
END;
-- +goose StatementEnd

{{define "edition"}}
  UPDATE periodic_calendar_edition SET edition = edition + 1;
{{end}}
{{define "used"}}
  SELECT RAISE(ABORT, 'periodic_calendar: a task uses this calendar; take its name out of exclude_calendars and run_calendars first')
   WHERE NOT EXISTS (SELECT 1 FROM periodic_calendar WHERE name = OLD.name)
     AND EXISTS (SELECT 1 FROM periodic_task WHERE (exclude_calendars IS NOT NULL OR run_calendars IS NOT NULL)
       AND instr(',' || replace(coalesce(exclude_calendars, '') || ',' || coalesce(run_calendars, ''), ' ', '') || ',', ',' || OLD.name || ','));
{{end}}
-- The ticks of tasks that move them may have other times now, and a task that no calendar of
-- that name was there for goes on. A tick that is due already is decided as it was planned.
{{define "replan"}}
  UPDATE periodic_task SET nextrun = '1970-01-01 00:00:00.000000'
   WHERE (exclude_calendars IS NOT NULL OR run_calendars IS NOT NULL)
     AND (on_excluded <> 'skip' OR due >= '9999-12-31 23:59:59')
     AND due > strftime('%Y-%m-%d %H:%M:%f000', 'now')
     AND instr(',' || replace(coalesce(exclude_calendars, '') || ',' || coalesce(run_calendars, ''), ' ', '') || ',', ',' || {{.}} || ',');
{{end}}
-- +goose StatementBegin
CREATE TRIGGER nextrun_calendar_added AFTER INSERT ON periodic_calendar
BEGIN
{{template "edition"}}
{{template "replan" "NEW.name"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_calendar_edited AFTER UPDATE ON periodic_calendar
BEGIN
{{template "used"}}
{{template "edition"}}
{{template "replan" "OLD.name"}}
{{template "replan" "NEW.name"}}
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER nextrun_calendar_deleted AFTER DELETE ON periodic_calendar
BEGIN
{{template "used"}}
{{template "edition"}}
{{template "replan" "OLD.name"}}
END;
-- +goose StatementEnd

-- What calendars and people leave out need not succeed.
DROP VIEW IF EXISTS periodic_stale;
CREATE VIEW periodic_stale AS
WITH usual AS MATERIALIZED (
  -- Of the ten newest successes among the last 1,000 ticks, the median time from the
  -- submission of the job to the success, in seconds, and the latest.
  SELECT t.id, t.task, t.group_, t.timer, t.sink, t.due, t.jitter, coalesce((
      SELECT took FROM (
        SELECT took, row_number() OVER (ORDER BY took) AS n, count(*) OVER () AS runs
          FROM (SELECT (julianday(coalesce(job.finished, last.finished)) - julianday(last.decided)) * 86400.0 AS took
                  FROM (SELECT k.due, k.jid, k.decision, k.decided, k.outcome, k.finished FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
                  LEFT JOIN job ON job.jid = last.jid
                 WHERE last.decision = 'submitted'
                   AND CASE WHEN job.state IS NOT NULL THEN job.state = 'success' ELSE last.outcome IN ('success', 'gone') END
                   AND coalesce(job.finished, last.finished) >= last.decided
                 ORDER BY last.due DESC LIMIT 10))
       WHERE n = runs / 2 + 1), 0) AS usual, (
      SELECT max(done) FROM (
        SELECT coalesce(job.finished, last.finished, last.decided) AS done
          FROM (SELECT k.due, k.jid, k.decision, k.decided, k.outcome, k.finished FROM periodic_tick AS k WHERE k.task_id = t.id ORDER BY k.due DESC LIMIT 1000) AS last
          LEFT JOIN job ON job.jid = last.jid
         WHERE last.decision = 'submitted'
           AND CASE WHEN job.state IS NOT NULL THEN job.state = 'success'
                    WHEN last.outcome IS NOT NULL THEN last.outcome IN ('success', 'gone')
                    ELSE t.sink <> 'job' AND NOT EXISTS (SELECT 1 FROM periodic_awaited AS a WHERE a.task_id = t.id AND a.due = last.due) END
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
         WHERE CASE last.decision WHEN 'skipped' THEN coalesce(last.reason, '') NOT LIKE 'paused%' AND coalesce(last.reason, '') NOT LIKE 'calendar %'
                              AND coalesce(last.reason, '') NOT LIKE 'window %' AND coalesce(last.reason, '') NOT LIKE 'left out by %'
                                  WHEN 'submitted' THEN t.sink <> 'job' OR job.state IS NOT NULL OR last.outcome IS NOT NULL
                                  ELSE 1 END) END AS expected,
      EXISTS (SELECT 1 FROM (SELECT k.due, k.outcome FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.by_now ORDER BY k.due DESC LIMIT 10) AS last
               WHERE last.outcome IS NOT NULL OR EXISTS (SELECT 1 FROM periodic_awaited AS a WHERE a.task_id = t.id AND a.due = last.due)) AS told
    FROM task AS t
)
SELECT t.id, t.task, t.group_, t.timer, t.expected, t.last_success,
       CASE WHEN t.sink = 'job' OR t.told THEN 'job' ELSE 'submission' END AS judged_by,
       last.decision, last.reason, coalesce(job.state, last.outcome) AS state
  FROM judged AS t
  LEFT JOIN periodic_tick AS last ON NOT t.untaken AND last.task_id = t.id
        AND last.due = (SELECT max(k.due) FROM periodic_tick AS k WHERE k.task_id = t.id AND k.due <= t.expected)
  LEFT JOIN job ON job.jid = last.jid
 WHERE t.expected IS NOT NULL
   AND (t.untaken OR t.last_success IS NULL OR t.last_success < t.expected)
 ORDER BY t.expected;

-- +goose Down
DROP VIEW IF EXISTS periodic_stale;
DROP TABLE IF EXISTS periodic_calendar;
DROP TABLE IF EXISTS periodic_calendar_edition;
DROP TRIGGER IF EXISTS nextrun_task_days;
DROP INDEX IF EXISTS nextrun_task_calendars;
ALTER TABLE periodic_task DROP COLUMN exclude_calendars;
ALTER TABLE periodic_task DROP COLUMN run_calendars;
ALTER TABLE periodic_task DROP COLUMN on_excluded;
ALTER TABLE periodic_tick DROP COLUMN nominal;
