-- A tenant of nextrun on PostgreSQL: a team or customer who manages some of the tasks in a table that
-- others use, too. Run this as the owner of the tables or as a superuser, after roles.sql; once more to
-- change the handlers:
--
--   psql DATABASE -v name=acme -v handlers=report,invoice -f tenant.sql
--   psql DATABASE -v name=acme -v handlers=report -v ids=acme/ -v group=customers -f tenant.sql
--
-- It makes the role nextrun_acme (schema and prefix as in roles.sql), which adds and changes tasks
-- whose ids begin with ids (acme-), of the group (acme), for these handlers, and sees their ticks, their
-- jobs and the logs of these. It disables tasks and cannot delete them; it writes no marks, plans, queues or
-- jobs, and reads no others' rows. nextrun task, why, preview, tick list, job list and job log work with it.
--
-- Row security is then on for these tables. The owner and the roles of roles.sql see all rows; any other
-- login sees none, so give it one of these roles first. A login that has another role of nextrun, too,
-- has the rights of both. What the ids of two tenants begin with must not begin alike. Tenants share
-- executors and connections: limit the jobs of the group, and the logins (CONNECTION LIMIT).
\set ON_ERROR_STOP on
\if :{?schema}
\else
  \set schema public
\endif
\if :{?prefix}
\else
  \set prefix nextrun_
\endif
\if :{?name}
\else
  DO $$ BEGIN RAISE EXCEPTION 'name the tenant: -v name=acme'; END $$;
\endif
\if :{?handlers}
\else
  DO $$ BEGIN RAISE EXCEPTION 'name what its tasks may run: -v handlers=report,invoice'; END $$;
\endif
\if :{?ids}
\else
  \set ids :name -
\endif
\if :{?group}
\else
  \set group :name
\endif
\set tenant :prefix :name

BEGIN;
SET LOCAL search_path = :"schema";
SET LOCAL client_min_messages = warning;
SET LOCAL lock_timeout = '10s'; -- rather fail than hold up those who work

SELECT format('CREATE ROLE %I NOLOGIN', :'tenant') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'tenant') \gexec
GRANT USAGE ON SCHEMA :"schema" TO :"tenant";
SELECT format('REVOKE ALL ON %I FROM %I', c.relname, :'tenant') FROM pg_class AS c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'v')
    AND (c.relname ~ '^(periodic|event|outbox|nextrun)_' OR c.relname IN ('job', 'joblog', 'jobgroupuse', 'job_limit', 'scheduler_lock', 'worker'))
    AND c.relowner = (SELECT relowner FROM pg_class WHERE oid = 'periodic_tick'::regclass) \gexec
-- Every program of nextrun compares the tables with its own version.
GRANT SELECT ON nextrun_migration, nextrun_found TO :"tenant";

-- What a tenant may say of a task: neither its mark (worker, marked), nor its plan (due); of the queue that it feeds
-- (sink) only that it is nextrun's own. It disables tasks, and cannot delete them: who may delete from a table may lock
-- all of it. To run a task now it sets nextrun.
GRANT SELECT ON periodic_task TO :"tenant";
GRANT INSERT (
  id, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, summary, starts, ends,
  exclude_calendars, overlap, catchup, grace, deadline,
  jitter, catchup_limit, sink, pause_after,
  retry_limit, retry_delay, timeout,
  paused, paused_until, paused_by, paused_reason
) ON periodic_task TO :"tenant";
GRANT UPDATE (
  rev, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, summary, starts, ends,
  exclude_calendars, overlap, catchup, grace, deadline,
  jitter, catchup_limit, sink, pause_after,
  retry_limit, retry_delay, timeout,
  paused, paused_until, paused_by, paused_reason
) ON periodic_task TO :"tenant";
-- It skips single ticks of them ahead; who undoes that is the operator.
GRANT INSERT (task_id, due, decision, reason), UPDATE (reason) ON periodic_tick TO :"tenant";
GRANT SELECT ON periodic_calendar, periodic_tick, periodic_open, job, joblog, event_store, outbox_message TO :"tenant";

-- Views read with the rights of who asks, from PostgreSQL 15 on. Before, they would show the rows of others, so a tenant has no
-- right on them, and task list, why and the pages are not for it.
SELECT format('ALTER VIEW %I SET (security_invoker = true)', name), format('GRANT SELECT ON %I TO %I', name, :'tenant')
  FROM unnest(ARRAY['periodic_run', 'periodic_health', 'periodic_stale']) AS name WHERE current_setting('server_version_num')::int >= 150000 \gexec

-- Row security is for everybody but the owner, whose rights the triggers have. The other
-- roles see all rows, as before.
SELECT format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name), format('DROP POLICY IF EXISTS nextrun_all ON %I', name),
    format('CREATE POLICY nextrun_all ON %I TO %I, %I, %I, %I, %I USING (true)', name, :'prefix' || 'scheduler', :'prefix' || 'executor',
      :'prefix' || 'relay', :'prefix' || 'operator', :'prefix' || 'reader'), format('DROP POLICY IF EXISTS %I ON %I', :'tenant', name)
  FROM unnest(ARRAY['periodic_task', 'periodic_tick', 'periodic_open', 'job', 'joblog', 'event_store', 'outbox_message']) AS name \gexec

CREATE POLICY :"tenant" ON periodic_task TO :"tenant"
  USING (starts_with(id, :'ids'))
  WITH CHECK (starts_with(id, :'ids') AND group_ = :'group' AND sink = 'job'
    AND task = ANY (string_to_array(:'handlers', ',')));
CREATE POLICY :"tenant" ON periodic_tick TO :"tenant"
  USING (starts_with(task_id, :'ids'))
  WITH CHECK (starts_with(task_id, :'ids') AND decided IS NULL);
CREATE POLICY :"tenant" ON job FOR SELECT TO :"tenant" USING (starts_with(tracker, :'ids') AND group_ = :'group');
CREATE POLICY :"tenant" ON joblog FOR SELECT TO :"tenant" USING (jid IN (SELECT jid FROM job));

-- It has neither events nor jobs in other queues; without a policy these tables are empty for it.
COMMIT;
