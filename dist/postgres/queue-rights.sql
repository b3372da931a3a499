-- What a scheduler needs to feed a queue that is not nextrun's own, see docs/queues.md. Run the part of your queue as the
-- owner of its tables, with your own names. People and programs that run tasks or retry jobs need the same.

-- River
GRANT USAGE ON SCHEMA public TO nextrun_scheduler;
GRANT SELECT, INSERT, UPDATE ON public.river_job TO nextrun_scheduler;
GRANT USAGE ON SEQUENCE public.river_job_id_seq TO nextrun_scheduler;
GRANT SELECT ON public.river_migration TO nextrun_scheduler;

-- Graphile Worker, whose row level security hides all rows from others
GRANT USAGE ON SCHEMA graphile_worker TO nextrun_scheduler;
GRANT SELECT, INSERT, UPDATE, DELETE ON graphile_worker._private_jobs TO nextrun_scheduler;
GRANT SELECT, INSERT ON graphile_worker._private_tasks, graphile_worker._private_job_queues TO nextrun_scheduler;
GRANT SELECT ON graphile_worker.jobs, graphile_worker.migrations TO nextrun_scheduler;
CREATE POLICY nextrun ON graphile_worker._private_jobs TO nextrun_scheduler USING (true) WITH CHECK (true);
CREATE POLICY nextrun ON graphile_worker._private_tasks TO nextrun_scheduler USING (true) WITH CHECK (true);
CREATE POLICY nextrun ON graphile_worker._private_job_queues TO nextrun_scheduler USING (true) WITH CHECK (true);

-- pg-boss
GRANT USAGE ON SCHEMA pgboss TO nextrun_scheduler;
GRANT SELECT, INSERT, UPDATE ON pgboss.job TO nextrun_scheduler;
GRANT SELECT ON pgboss.queue, pgboss.version TO nextrun_scheduler;

-- PGMQ, for its queue mail
GRANT USAGE ON SCHEMA pgmq TO nextrun_scheduler;
GRANT SELECT, INSERT, UPDATE, DELETE ON pgmq.q_mail TO nextrun_scheduler;
GRANT SELECT, INSERT ON pgmq.a_mail TO nextrun_scheduler;
