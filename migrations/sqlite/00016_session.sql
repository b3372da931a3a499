-- Which workers have a session by which the database knows that they live. It is used on
-- PostgreSQL only: on SQLite the lock on a file beside the database shows that.

-- +goose Up
CREATE TABLE worker_session (
  worker  varchar(254) NOT NULL PRIMARY KEY,
  session varchar(64)  NOT NULL,
  server  timestamp    NOT NULL,
  since   timestamp    NOT NULL,
  ended   timestamp
);

-- +goose Down
DROP TABLE worker_session;
