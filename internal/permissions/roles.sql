-- Roles of nextrun on PostgreSQL. Run this as the owner of the tables or as a superuser, after
-- nextrun migrate up, and once more after an upgrade that adds tables. It may be run at any time:
-- it sets the rights of these roles on nextrun's tables, and touches nothing else.
BEGIN;
SET LOCAL search_path = {{schema}};
SET LOCAL lock_timeout = '10s'; -- rather fail than hold up those who work
-- After nextrun migrate up --without job, tables that are gone at the end of this transaction stand in for those
-- of jobs: tables of these names then belong to something else, or there are none.
DO $$ BEGIN
  IF EXISTS (SELECT FROM nextrun_found WHERE name = 'without job') THEN
    CREATE TEMP TABLE job () ON COMMIT DROP;
    CREATE TEMP TABLE joblog (counter bigserial) ON COMMIT DROP;
    CREATE TEMP TABLE jobgroupuse () ON COMMIT DROP;
    CREATE TEMP TABLE job_pause () ON COMMIT DROP;
    CREATE TEMP TABLE job_limit () ON COMMIT DROP;
  END IF;
END $$;
{{range roles}}
{{create .}}
{{- end}}

GRANT USAGE ON SCHEMA {{schema}}
  TO {{every}};
REVOKE ALL ON {{tables}}
  FROM {{every}};
REVOKE ALL ON SEQUENCE joblog_counter_seq
  FROM {{every}};

-- Every program of nextrun compares the tables with its own version.
GRANT SELECT ON nextrun_migration, nextrun_found
  TO {{every}};

-- The viewer reads all: people, Grafana, and the dashboard without actions.
GRANT SELECT ON {{readable}}
  TO {{role "viewer"}}, {{role "dashboard"}}, {{role "operator"}};

-- The dashboard with actions pauses, edits and runs tasks, skips and moves single ticks, cancels and retries jobs, and sends
-- events again. It neither adds nor deletes tasks.
GRANT UPDATE ON periodic_task TO {{role "dashboard"}};
GRANT INSERT, UPDATE, DELETE ON periodic_override TO {{role "dashboard"}};
GRANT INSERT, UPDATE ON periodic_tick, periodic_open, periodic_awaited, job TO {{role "dashboard"}};
GRANT INSERT ON periodic_action, joblog TO {{role "dashboard"}};
GRANT USAGE ON SEQUENCE joblog_counter_seq TO {{role "dashboard"}};
GRANT INSERT, UPDATE ON outbox_message TO {{role "dashboard"}};

-- The operator does what people on call do, from the command line: what the dashboard does,
-- and pauses and limits of jobs.
GRANT UPDATE ON periodic_task TO {{role "operator"}};
GRANT INSERT, UPDATE, DELETE ON periodic_override TO {{role "operator"}};
GRANT INSERT, UPDATE ON periodic_tick, periodic_open, periodic_awaited, job TO {{role "operator"}};
GRANT INSERT, UPDATE, DELETE ON job_pause, job_limit TO {{role "operator"}};
GRANT INSERT ON periodic_action, joblog TO {{role "operator"}};
GRANT USAGE ON SEQUENCE joblog_counter_seq TO {{role "operator"}};
GRANT INSERT, UPDATE ON outbox_message, outbox_topic TO {{role "operator"}};

-- The editor manages tasks and calendars, and sees what became of them.
GRANT SELECT, INSERT, UPDATE, DELETE ON periodic_task, periodic_calendar, periodic_override TO {{role "editor"}};
GRANT SELECT, INSERT, UPDATE ON periodic_origin TO {{role "editor"}};
GRANT SELECT ON periodic_calendar_edition, periodic_tick, periodic_upcoming, periodic_overdue, periodic_stale, periodic_health,
  periodic_finish, job, joblog, scheduler_lock TO {{role "editor"}};
GRANT SELECT, INSERT ON periodic_action TO {{role "editor"}};

-- The scheduler changes tasks, and neither adds nor deletes any.
GRANT SELECT, UPDATE ON periodic_task TO {{role "scheduler"}};
GRANT SELECT ON periodic_calendar, periodic_calendar_edition, periodic_override TO {{role "scheduler"}};
GRANT SELECT, INSERT, UPDATE ON periodic_tick TO {{role "scheduler"}};
GRANT SELECT, INSERT, UPDATE, DELETE ON periodic_ready, periodic_open, periodic_awaited, worker_session, worker_service TO {{role "scheduler"}};
GRANT SELECT, INSERT, UPDATE ON job, scheduler_lock, event_store, event_aggregate, event_topic, outbox_message TO {{role "scheduler"}};

-- The executor works on jobs, and needs no right on tasks.
GRANT SELECT, INSERT, UPDATE, DELETE ON job, joblog, jobgroupuse, worker_session, worker_service TO {{role "executor"}};
GRANT SELECT ON job_pause, job_limit TO {{role "executor"}};
GRANT INSERT ON periodic_action TO {{role "executor"}};
GRANT USAGE ON SEQUENCE joblog_counter_seq TO {{role "executor"}};

-- The housekeeper deletes old rows. An executor that runs the task nextrun-housekeeping has
-- this role, too.
GRANT SELECT, DELETE ON periodic_tick, periodic_open, periodic_awaited, periodic_override, periodic_action, job, joblog,
  event_store, outbox_message, event_offset TO {{role "housekeeper"}};

-- The relay publishes events and delivers hooks.
GRANT SELECT, INSERT, UPDATE, DELETE ON event_store, event_aggregate, event_topic, event_offset,
  outbox_message, outbox_topic, worker_session, worker_service TO {{role "relay"}};
GRANT SELECT ON outbox_lag TO {{role "relay"}};
{{range .}}
-- The scheduler feeds the queue {{.Name}}; the dashboard and the operator do when they run a disabled task.
{{range call .Grants (printf "%s, %s, %s" (role "scheduler") (role "dashboard") (role "operator")) -}}
{{.}}
{{else -}}
-- nextrun does not know the tables of its statements: give these roles the rights that the statements need.
{{end -}}
{{end}}
COMMIT;
