-- Roles of nextrun on PostgreSQL. Run this as the owner of the tables or as a superuser, after
-- nextrun migrate up, and once more after an upgrade:
--
--   psql DATABASE -f roles.sql
--   psql DATABASE -v schema=jobs -v prefix=shop_ -f roles.sql
--
-- schema is that of the tables (public), prefix what the names of the roles begin with (nextrun_).
-- It may be run at any time: it sets the rights of these roles on nextrun's tables, and touches
-- nothing else. Whoever may not create roles makes them beforehand.
\set ON_ERROR_STOP on
\if :{?schema}
\else
  \set schema public
\endif
\if :{?prefix}
\else
  \set prefix nextrun_
\endif
\set scheduler :prefix scheduler
\set executor :prefix executor
\set relay :prefix relay
\set operator :prefix operator
\set reader :prefix reader

BEGIN;
SET LOCAL search_path = :"schema";
SET LOCAL lock_timeout = '10s'; -- rather fail than hold up those who work
SELECT format('CREATE ROLE %I NOLOGIN', name) FROM unnest(ARRAY[:'scheduler', :'executor', :'relay', :'operator', :'reader']) AS name
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

-- All tables and views of nextrun.
SELECT string_agg(format('%I', c.relname), ', ') AS everything FROM pg_class AS c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'v')
    AND (c.relname ~ '^(periodic|event|outbox|nextrun)_' OR c.relname IN ('job', 'joblog', 'jobgroupuse', 'job_limit', 'scheduler_lock', 'worker'))
    AND c.relowner = (SELECT relowner FROM pg_class WHERE oid = 'periodic_tick'::regclass) \gset

GRANT USAGE ON SCHEMA :"schema" TO :"scheduler", :"executor", :"relay", :"operator", :"reader";
REVOKE ALL ON :everything FROM :"scheduler", :"executor", :"relay", :"operator", :"reader";
REVOKE ALL ON SEQUENCE joblog_counter_seq FROM :"scheduler", :"executor", :"relay", :"operator", :"reader";

-- Every program of nextrun compares the tables with its own version.
GRANT SELECT ON nextrun_migration, nextrun_found TO :"scheduler", :"executor", :"relay", :"operator", :"reader";

-- The scheduler decides ticks, submits jobs and events, and deletes what is old. It changes tasks, and neither adds
-- nor deletes any.
GRANT SELECT, UPDATE ON periodic_task TO :"scheduler";
GRANT SELECT ON periodic_calendar, periodic_run TO :"scheduler";
GRANT SELECT, INSERT, UPDATE, DELETE ON periodic_tick, periodic_open, job, event_store, outbox_message, scheduler_lock, worker TO :"scheduler";
GRANT SELECT, INSERT, UPDATE ON event_aggregate TO :"scheduler";
GRANT SELECT (jid), DELETE ON joblog TO :"scheduler"; -- it does not read logs

-- The executor works on jobs, and adds some, such as those of hooks. It needs no right on tasks. Its hooks read what
-- was decided before.
GRANT SELECT, INSERT, UPDATE ON job TO :"executor";
GRANT SELECT, INSERT ON joblog TO :"executor"; -- what was logged stays
GRANT SELECT, INSERT, UPDATE, DELETE ON jobgroupuse, worker TO :"executor";
GRANT SELECT ON job_limit, periodic_tick, periodic_run TO :"executor";
GRANT USAGE ON SEQUENCE joblog_counter_seq TO :"executor";

-- The relay publishes events.
GRANT SELECT ON event_store TO :"relay";
GRANT SELECT, UPDATE ON outbox_message TO :"relay";
GRANT SELECT, INSERT, UPDATE, DELETE ON scheduler_lock, worker TO :"relay";

-- The operator manages tasks, calendars, jobs and events: people with a command line, the dashboard with actions,
-- programs that declare tasks.
GRANT SELECT ON :everything TO :"operator";
GRANT INSERT, UPDATE, DELETE ON periodic_task, periodic_calendar, job_limit TO :"operator";
GRANT INSERT, UPDATE ON periodic_tick, periodic_open, job, outbox_message TO :"operator";
GRANT DELETE ON periodic_tick, job, joblog TO :"operator"; -- what is skipped ahead; job prune
GRANT INSERT ON joblog TO :"operator";
GRANT INSERT ON event_store TO :"operator"; -- task run of a task whose sink is event
GRANT INSERT, UPDATE ON event_aggregate TO :"operator";
GRANT DELETE ON scheduler_lock TO :"operator"; -- lock release
GRANT USAGE ON SEQUENCE joblog_counter_seq TO :"operator";

-- The reader reads all: people, Grafana, metrics, and the dashboard without actions.
GRANT SELECT ON :everything TO :"reader";
COMMIT;
