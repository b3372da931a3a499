-- What Graphile Worker's migration 18 leaves behind, as far as nextrun uses it: written anew, for tests.
CREATE SCHEMA graphile_worker;
SET LOCAL search_path = graphile_worker;

CREATE TABLE migrations (id integer PRIMARY KEY, ts timestamptz NOT NULL DEFAULT now());
INSERT INTO migrations VALUES (17), (18);

CREATE TABLE _private_job_queues (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue_name text NOT NULL UNIQUE CHECK (length(queue_name) <= 128)
);
CREATE TABLE _private_tasks (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  identifier text NOT NULL UNIQUE CHECK (length(identifier) <= 128)
);
CREATE TABLE _private_jobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_queue_id integer,
  task_id integer NOT NULL,
  payload json NOT NULL DEFAULT '{}',
  priority smallint NOT NULL DEFAULT 0,
  run_at timestamptz NOT NULL DEFAULT now(),
  attempts smallint NOT NULL DEFAULT 0,
  max_attempts smallint NOT NULL DEFAULT 25 CHECK (max_attempts >= 1),
  last_error text,
  key text UNIQUE CHECK (length(key) BETWEEN 1 AND 512),
  locked_at timestamptz,
  locked_by text
);
ALTER TABLE _private_job_queues ENABLE ROW LEVEL SECURITY;
ALTER TABLE _private_tasks ENABLE ROW LEVEL SECURITY;
ALTER TABLE _private_jobs ENABLE ROW LEVEL SECURITY;

CREATE VIEW jobs AS
  SELECT j.id, q.queue_name, t.identifier AS task_identifier, j.priority, j.run_at, j.attempts, j.max_attempts, j.last_error,
    j.key, j.locked_at, j.locked_by
  FROM _private_jobs AS j JOIN _private_tasks AS t ON t.id = j.task_id LEFT JOIN _private_job_queues AS q ON q.id = j.job_queue_id;

CREATE TYPE job_spec AS (
  identifier text, payload json, queue_name text, run_at timestamptz, max_attempts smallint, job_key text, priority smallint, flags text[]
);

CREATE FUNCTION add_jobs(specs job_spec[], job_key_preserve_run_at boolean DEFAULT false) RETURNS SETOF _private_jobs
LANGUAGE plpgsql SET search_path = graphile_worker AS $$
BEGIN
  INSERT INTO _private_tasks (identifier) SELECT DISTINCT s.identifier FROM unnest(specs) AS s ON CONFLICT DO NOTHING;
  INSERT INTO _private_job_queues (queue_name)
    SELECT DISTINCT s.queue_name FROM unnest(specs) AS s WHERE s.queue_name IS NOT NULL ON CONFLICT DO NOTHING;
  PERFORM pg_notify('jobs:insert', json_build_object('count', cardinality(specs))::text);
  RETURN QUERY INSERT INTO _private_jobs (job_queue_id, task_id, payload, run_at, max_attempts, key, priority)
    SELECT q.id, t.id, coalesce(s.payload, '{}'), coalesce(s.run_at, now()), coalesce(s.max_attempts, 25), s.job_key, coalesce(s.priority, 0)
    FROM unnest(specs) AS s JOIN _private_tasks AS t ON t.identifier = s.identifier
      LEFT JOIN _private_job_queues AS q ON q.queue_name = s.queue_name
    RETURNING *;
END
$$;

CREATE FUNCTION complete_jobs(job_ids bigint[]) RETURNS SETOF _private_jobs
LANGUAGE sql SET search_path = graphile_worker AS $$
  DELETE FROM _private_jobs WHERE id = ANY (job_ids) AND (locked_at IS NULL OR locked_at < now() - interval '4 hours') RETURNING *;
$$;

CREATE FUNCTION reschedule_jobs(job_ids bigint[], run_at timestamptz DEFAULT NULL, priority integer DEFAULT NULL, attempts integer DEFAULT NULL,
  max_attempts integer DEFAULT NULL) RETURNS SETOF _private_jobs
LANGUAGE sql SET search_path = graphile_worker AS $$
  UPDATE _private_jobs AS j SET run_at = coalesce(reschedule_jobs.run_at, j.run_at), attempts = coalesce(reschedule_jobs.attempts, j.attempts)
    WHERE j.id = ANY (job_ids) AND j.locked_at IS NULL RETURNING *;
$$;

SET LOCAL search_path = public;
