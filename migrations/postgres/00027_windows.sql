-- Windows: calendars that hold all tasks, or those of a group, whether these name them or not.

-- +goose Up
ALTER TABLE periodic_calendar
  ADD COLUMN scope  varchar(254),
  ADD COLUMN at_end varchar(16),
  ADD COLUMN since  timestamp DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
  ADD CONSTRAINT nextrun_calendar_scope CHECK (scope = 'all' OR scope LIKE 'group:_%'),
  ADD CONSTRAINT nextrun_calendar_at_end CHECK (at_end IS NULL OR at_end IN ('skip', 'once') AND scope IS NOT NULL);
COMMENT ON TABLE  periodic_calendar           IS 'days and times at which tasks that name the calendar run, or do not, and windows; all rows of a name are one calendar';
COMMENT ON COLUMN periodic_calendar.scope     IS 'a window, which holds all tasks, or group:NAME, those of a group; its days, and a timer without a zone, are in UTC. NULL: tasks that name the calendar';
COMMENT ON COLUMN periodic_calendar.at_end    IS 'of a window: skip, which is the default, or once, if the ticks in it become one when it ends';
COMMENT ON COLUMN periodic_calendar.since     IS 'when the row was added, UTC: a window does not hold what was due before';

-- +goose Down
ALTER TABLE periodic_calendar
  DROP COLUMN IF EXISTS scope,
  DROP COLUMN IF EXISTS at_end,
  DROP COLUMN IF EXISTS since;
