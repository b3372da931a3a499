-- Which workers have a session by which the database knows that they live. What one leaves
-- that has ended need not wait for its lease.

-- +goose Up
CREATE UNLOGGED TABLE worker_session (
  worker  varchar(254) NOT NULL PRIMARY KEY,
  session varchar(64)  NOT NULL,
  server  timestamp    NOT NULL,
  since   timestamp    NOT NULL,
  ended   timestamp
);
COMMENT ON TABLE  worker_session         IS 'workers by whose sessions the database knows that they live; unlogged: a crash and a failover end all sessions';
COMMENT ON COLUMN worker_session.worker  IS 'name@boot id, as in marks, jobs, locks and leases';
COMMENT ON COLUMN worker_session.session IS 'application_name of the session; none in pg_stat_activity: the worker has ended';
COMMENT ON COLUMN worker_session.server  IS 'start of the server in which the session is, UTC; of another one: it means nothing';
COMMENT ON COLUMN worker_session.since   IS 'when the session was made, UTC';
COMMENT ON COLUMN worker_session.ended   IS 'when another worker first saw that it had ended, UTC; the row is deleted an hour later';

-- +goose Down
DROP TABLE worker_session;
