-- What schema 37 of pg-boss consists of, as far as nextrun uses it: written anew, for tests.
CREATE SCHEMA pgboss;
SET LOCAL search_path = pgboss;

CREATE TABLE version (version integer PRIMARY KEY);
INSERT INTO version VALUES (37);

CREATE TYPE job_state AS ENUM ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');

CREATE TABLE queue (
  name text PRIMARY KEY,
  policy text NOT NULL DEFAULT 'standard',
  retry_limit integer NOT NULL DEFAULT 2,
  retry_delay integer NOT NULL DEFAULT 0,
  retry_backoff boolean NOT NULL DEFAULT false,
  retry_delay_max integer,
  expire_seconds integer NOT NULL DEFAULT 900,
  retention_seconds integer NOT NULL DEFAULT 1209600,
  deletion_seconds integer NOT NULL DEFAULT 604800,
  dead_letter text REFERENCES queue (name),
  heartbeat_seconds integer,
  notify boolean NOT NULL DEFAULT false
);

CREATE TABLE job (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL REFERENCES queue (name) DEFERRABLE INITIALLY DEFERRED,
  priority integer NOT NULL DEFAULT 0,
  data jsonb,
  state job_state NOT NULL DEFAULT 'created',
  retry_limit integer NOT NULL DEFAULT 2,
  retry_count integer NOT NULL DEFAULT 0,
  retry_delay integer NOT NULL DEFAULT 0,
  retry_backoff boolean NOT NULL DEFAULT false,
  retry_delay_max integer,
  expire_seconds integer NOT NULL DEFAULT 900,
  deletion_seconds integer NOT NULL DEFAULT 604800,
  singleton_key text,
  singleton_on timestamp,
  group_id text,
  start_after timestamptz NOT NULL DEFAULT now(),
  created_on timestamptz NOT NULL DEFAULT now(),
  started_on timestamptz,
  completed_on timestamptz,
  output jsonb,
  keep_until timestamptz NOT NULL DEFAULT now() + interval '14 days',
  dead_letter text REFERENCES queue (name) DEFERRABLE INITIALLY DEFERRED,
  policy text,
  heartbeat_seconds integer,
  PRIMARY KEY (name, id),
  CHECK (NOT (policy = 'key_strict_fifo' AND singleton_key IS NULL))
) PARTITION BY LIST (name);
CREATE TABLE job_common PARTITION OF job DEFAULT;
CREATE UNIQUE INDEX ON job_common (name, coalesce(singleton_key, '')) WHERE state = 'created' AND policy = 'short';
CREATE UNIQUE INDEX ON job_common (name, coalesce(singleton_key, '')) WHERE state <= 'active' AND policy = 'exclusive';

SET LOCAL search_path = public;
