-- Ticks that wait for a job in a queue that is not nextrun's own go on at once when the job ends, not only when a scheduler
-- asks; see docs/queues.md. This is for River, and for a queue that the configuration calls river. Run it as a role that may
-- write to both tables. For other queues replace OLD.id::text, and what stands between AFTER and EXECUTE:
--
--   Graphile Worker: OLD.id::text; AFTER DELETE ON graphile_worker._private_jobs FOR EACH ROW
--   pg-boss: concat(OLD.name, '/', OLD.id); AFTER UPDATE OF state ON pgboss.job FOR EACH ROW WHEN (NEW.state IN ('completed', 'cancelled'))
--   PGMQ: concat('mail/', OLD.msg_id); AFTER DELETE ON pgmq.q_mail FOR EACH ROW
CREATE FUNCTION nextrun_ended_river() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    job text := OLD.id::text;
BEGIN
    UPDATE periodic_open SET look = clock_timestamp() AT TIME ZONE 'UTC' WHERE (task_id, due) IN (
        SELECT task_id, due FROM periodic_open WHERE sink = 'river' AND ref = job FOR UPDATE SKIP LOCKED);
    PERFORM pg_notify('nextrun_task', '');
    RETURN NULL;
END $$;
CREATE TRIGGER nextrun_ended_river AFTER UPDATE OF state ON river_job FOR EACH ROW
    WHEN (NEW.finalized_at IS NOT NULL AND OLD.finalized_at IS NULL) EXECUTE FUNCTION nextrun_ended_river();
