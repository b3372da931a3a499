-- Which program declares a task, and what each program has declared last: as
-- postgres/00023_origins.sql has it, where the comments are.

-- +goose Up
ALTER TABLE periodic_task ADD COLUMN origin varchar(254) CONSTRAINT nextrun_origin
  CHECK (origin IS NULL OR typeof(origin) = 'text' AND origin <> '' AND length(origin) <= 254 AND NOT instr(CAST(origin AS BLOB), x'00'));

CREATE TABLE periodic_origin (
  name     varchar(254) NOT NULL PRIMARY KEY
    CHECK (typeof(name) = 'text' AND name <> '' AND length(name) <= 254 AND NOT instr(CAST(name AS BLOB), x'00')),
  version  integer      NOT NULL DEFAULT 0 CHECK (typeof(version) = 'integer' AND version >= 0),
  declared text         NOT NULL DEFAULT '{}' CHECK (typeof(declared) = 'text'),
  digests  text         NOT NULL DEFAULT '[]' CHECK (typeof(digests) = 'text'),
  since    timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
) WITHOUT ROWID;

-- +goose Down
DROP TABLE IF EXISTS periodic_origin;
ALTER TABLE periodic_task DROP COLUMN origin;
