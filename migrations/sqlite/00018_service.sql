-- What each process that works on this database is and can do, so that others can say what a
-- waiting job waits for.

-- +goose Up
CREATE TABLE worker_service (
  worker      varchar(254) NOT NULL PRIMARY KEY,
  kind        varchar(32)  NOT NULL,
  version     varchar(254) NOT NULL,
  started     timestamp    NOT NULL,
  seen        timestamp,
  places      integer,
  lease       integer,
  only_groups text,
  handlers    text
);

-- +goose Down
DROP TABLE worker_service;
