-- A task may name any queue as its sink, and periodic_open holds the newest job of
-- each task in a queue that is not nextrun's own.

-- +goose Up
ALTER TABLE periodic_task DROP CONSTRAINT nextrun_sink;
ALTER TABLE periodic_task ADD CONSTRAINT nextrun_sink
  CHECK (sink GLOB '[a-z]*' AND sink NOT GLOB '*[^a-z0-9_-]*' AND length(sink) <= 64);

CREATE TABLE periodic_open (
  task_id   varchar(254) NOT NULL PRIMARY KEY,
  sink      varchar(64)  NOT NULL,
  ref       text         NOT NULL,
  jid       varchar(254) NOT NULL,
  due       timestamp    NOT NULL,
  submitted timestamp    NOT NULL
) WITHOUT ROWID;

-- Queued ticks wait until the row of their task's job is gone.
-- +goose StatementBegin
CREATE TRIGGER nextrun_open_ended AFTER DELETE ON periodic_open
BEGIN
  INSERT INTO periodic_ready (task_id) SELECT OLD.task_id
   WHERE EXISTS (SELECT 1 FROM periodic_tick WHERE task_id = OLD.task_id AND decision = 'queued')
     AND NOT EXISTS (SELECT 1 FROM periodic_ready WHERE task_id = OLD.task_id);
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE periodic_open;
-- SQLite drops no column that a constraint of the table names; 00002 drops this one.
ALTER TABLE periodic_task DROP CONSTRAINT nextrun_sink;
