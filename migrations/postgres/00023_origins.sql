-- Which program declares a task, and what each program has declared last.

-- +goose Up
ALTER TABLE periodic_task ADD COLUMN origin varchar(254) CONSTRAINT nextrun_origin CHECK (origin <> '');
COMMENT ON COLUMN periodic_task.origin IS 'the program or file that declares this row; NULL: people keep it';

CREATE TABLE periodic_origin (
  name     varchar(254) NOT NULL PRIMARY KEY CHECK (name <> ''),
  version  bigint       NOT NULL DEFAULT 0 CHECK (version >= 0),
  declared text         NOT NULL DEFAULT '{}',
  digests  text         NOT NULL DEFAULT '[]',
  since    timestamp    NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC')
);
COMMENT ON TABLE  periodic_origin          IS 'programs and files that declare tasks';
COMMENT ON COLUMN periodic_origin.name     IS 'as in the column origin of their tasks';
COMMENT ON COLUMN periodic_origin.version  IS 'of the program that declared tasks last; 0: not known';
COMMENT ON COLUMN periodic_origin.declared IS 'the tasks as they were declared last: columns by id; what differs from it in a row, people have changed';
COMMENT ON COLUMN periodic_origin.digests  IS 'of the sets of tasks that were declared, the newest last';
COMMENT ON COLUMN periodic_origin.since    IS 'when the newest was declared, UTC';

-- +goose Down
DROP TABLE IF EXISTS periodic_origin;
ALTER TABLE periodic_task DROP COLUMN IF EXISTS origin;
