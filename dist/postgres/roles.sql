-- Roles of nextrun on PostgreSQL. Run this as the owner of the tables or as a superuser, after
-- nextrun migrate up, and once more after an upgrade that adds tables:
--
--   psql DATABASE -f roles.sql
--   psql DATABASE -v schema=jobs -v prefix=shop_ -f roles.sql
--
-- schema is that of the tables (public), prefix what the names of the roles begin with (nextrun_).
-- It may be run at any time: it sets the rights of these roles on nextrun's tables, and touches
-- nothing else.
\set ON_ERROR_STOP on
\if :{?schema}
\else
  \set schema public
\endif
\if :{?prefix}
\else
  \set prefix nextrun_
\endif
\set viewer :prefix viewer
\set dashboard :prefix dashboard
\set operator :prefix operator
\set editor :prefix editor
\set scheduler :prefix scheduler
\set executor :prefix executor
\set housekeeper :prefix housekeeper
\set relay :prefix relay

BEGIN;
SET LOCAL search_path = :"schema";
SET LOCAL lock_timeout = '10s'; -- rather fail than hold up those who work
SELECT format('CREATE ROLE %I NOLOGIN', name) FROM unnest(ARRAY[
    :'viewer', :'dashboard', :'operator', :'editor', :'scheduler', :'executor', :'housekeeper', :'relay'
  ]) AS name WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

GRANT USAGE ON SCHEMA :"schema"
  TO :"viewer", :"dashboard", :"operator", :"editor", :"scheduler", :"executor", :"housekeeper", :"relay";
REVOKE ALL ON periodic_task, periodic_tick, periodic_open,
  periodic_calendar,
  periodic_run, periodic_stale,
  periodic_health, job, joblog, jobgroupuse, job_limit,
  scheduler_lock, worker, event_store, event_aggregate,
  outbox_message,
  nextrun_migration, nextrun_found
  FROM :"viewer", :"dashboard", :"operator", :"editor", :"scheduler", :"executor", :"housekeeper", :"relay";
REVOKE ALL ON SEQUENCE joblog_counter_seq
  FROM :"viewer", :"dashboard", :"operator", :"editor", :"scheduler", :"executor", :"housekeeper", :"relay";

-- Every program of nextrun compares the tables with its own version.
GRANT SELECT ON nextrun_migration, nextrun_found
  TO :"viewer", :"dashboard", :"operator", :"editor", :"scheduler", :"executor", :"housekeeper", :"relay";

-- The viewer reads all: people, Grafana, and the dashboard without actions.
GRANT SELECT ON periodic_task, periodic_tick, periodic_open,
  periodic_calendar,
  periodic_run, periodic_stale,
  periodic_health, job, joblog, jobgroupuse, job_limit,
  scheduler_lock, worker, event_store, event_aggregate,
  outbox_message
  TO :"viewer", :"dashboard", :"operator";

-- The dashboard with actions pauses, edits and runs tasks, skips single ticks, cancels and retries jobs, and sends
-- events again. It neither adds nor deletes tasks.
GRANT UPDATE ON periodic_task TO :"dashboard";
GRANT DELETE ON periodic_tick TO :"dashboard"; -- what is skipped ahead
GRANT INSERT, UPDATE ON periodic_tick, periodic_open, job TO :"dashboard";
GRANT INSERT ON joblog TO :"dashboard";
GRANT USAGE ON SEQUENCE joblog_counter_seq TO :"dashboard";
GRANT INSERT, UPDATE ON outbox_message TO :"dashboard";

-- The operator does what people on call do, from the command line: what the dashboard does,
-- and pauses and limits of jobs.
GRANT UPDATE ON periodic_task TO :"operator";
GRANT DELETE ON periodic_tick TO :"operator"; -- what is skipped ahead
GRANT INSERT, UPDATE ON periodic_tick, periodic_open, job TO :"operator";
GRANT INSERT, UPDATE, DELETE ON job_limit TO :"operator";
GRANT INSERT ON joblog TO :"operator";
GRANT USAGE ON SEQUENCE joblog_counter_seq TO :"operator";
GRANT INSERT, UPDATE ON outbox_message TO :"operator";

-- The editor manages tasks and calendars, and sees what became of them.
GRANT SELECT, INSERT, UPDATE, DELETE ON periodic_task, periodic_calendar TO :"editor";
GRANT INSERT (task_id, due, decision, reason), UPDATE (reason), DELETE ON periodic_tick TO :"editor"; -- what is skipped ahead
GRANT SELECT ON periodic_tick, periodic_run, periodic_stale, periodic_health,
  job, joblog, scheduler_lock TO :"editor";

-- The scheduler changes tasks, and neither adds nor deletes any.
GRANT SELECT, UPDATE ON periodic_task TO :"scheduler";
GRANT SELECT ON periodic_calendar, periodic_run TO :"scheduler";
GRANT SELECT, INSERT, UPDATE ON periodic_tick TO :"scheduler";
GRANT SELECT, INSERT, UPDATE, DELETE ON periodic_open, worker TO :"scheduler";
GRANT SELECT, INSERT, UPDATE ON job, scheduler_lock, event_store, event_aggregate, outbox_message TO :"scheduler";

-- The executor works on jobs, and needs no right on tasks. Its hooks read what the end of a job did to its task.
GRANT SELECT, INSERT, UPDATE, DELETE ON job, joblog, jobgroupuse, worker TO :"executor";
GRANT SELECT ON job_limit, periodic_tick, periodic_run TO :"executor";
GRANT USAGE ON SEQUENCE joblog_counter_seq TO :"executor";

-- The housekeeper deletes old rows. An executor that runs the task nextrun-housekeeping has
-- this role, too.
GRANT SELECT, DELETE ON periodic_tick, periodic_open, job, joblog,
  event_store, outbox_message, worker TO :"housekeeper";

-- The relay publishes events.
GRANT SELECT ON event_store TO :"relay";
GRANT SELECT, UPDATE ON outbox_message TO :"relay";
GRANT SELECT, INSERT, UPDATE, DELETE ON scheduler_lock, worker TO :"relay";
COMMIT;
