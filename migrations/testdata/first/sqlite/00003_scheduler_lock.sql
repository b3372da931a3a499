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

-- +goose Down
{{if not (found "scheduler_lock")}}
DROP TABLE scheduler_lock;
{{end}}
