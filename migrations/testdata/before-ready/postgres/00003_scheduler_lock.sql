-- The lock of modes leader and exclusive: one row for each lock name, made by
-- the first acquisition and kept for ever, so that its token only ever rises.

-- +goose Up
{{if not (found "scheduler_lock")}}
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
{{end}}

-- A release, be it by hand, wakes those who stand by.
-- +goose StatementBegin
CREATE FUNCTION nextrun_lock_released() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('nextrun_lock', '');
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_lock_released AFTER UPDATE OF expires ON scheduler_lock
  FOR EACH ROW WHEN (NEW.expires < OLD.expires)
  EXECUTE FUNCTION nextrun_lock_released();

-- +goose Down
DROP TRIGGER nextrun_lock_released ON scheduler_lock;
DROP FUNCTION nextrun_lock_released();
{{if not (found "scheduler_lock")}}
DROP TABLE scheduler_lock;
{{end}}
