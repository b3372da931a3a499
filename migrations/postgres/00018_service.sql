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
COMMENT ON TABLE  worker_service             IS 'schedulers, executors, relays and consumers that run, and what they can do';
COMMENT ON COLUMN worker_service.worker      IS 'name@boot id, as in marks, jobs, locks and leases';
COMMENT ON COLUMN worker_service.kind        IS 'scheduler, executor, relay or consumer';
COMMENT ON COLUMN worker_service.version     IS 'version of the program';
COMMENT ON COLUMN worker_service.started     IS 'when it started, UTC';
COMMENT ON COLUMN worker_service.seen        IS 'when it last said that it lives, UTC, every 30 s; NULL: its row in worker_session, or its file, tells';
COMMENT ON COLUMN worker_service.places      IS 'how many jobs an executor runs at once';
COMMENT ON COLUMN worker_service.lease       IS 'seconds after which an executor takes jobs from a worker that sends no heartbeat';
COMMENT ON COLUMN worker_service.only_groups IS 'JSON list: the only groups of which an executor takes jobs; NULL: of all';
COMMENT ON COLUMN worker_service.handlers    IS 'JSON list of the handlers of an executor: name, concurrency (its limit, if any), attempts (how often it tries a job at most)';

-- +goose Down
DROP TABLE worker_service;
