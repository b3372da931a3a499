-- A task may name any queue as its sink, and periodic_open holds the newest job of
-- each task in a queue that is not nextrun's own.

-- +goose Up
-- PostgreSQL changes no type of a column that a trigger names.
DROP TRIGGER nextrun_task_edited ON periodic_task;
ALTER TABLE periodic_task
  DROP CONSTRAINT nextrun_sink,
  ALTER COLUMN sink TYPE varchar(64),
  ADD CONSTRAINT nextrun_sink CHECK (sink ~ '^[a-z][a-z0-9_-]{0,63}$');
CREATE TRIGGER nextrun_task_edited
  BEFORE UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, created, summary,
                   starts, ends, overlap, catchup, grace, deadline, jitter, sink ON periodic_task
  FOR EACH ROW
  WHEN (NEW.due IS NOT DISTINCT FROM OLD.due AND (
        (NEW.enabled, NEW.nextrun, NEW.timer, NEW.id, NEW.task, NEW.group_, NEW.subject, NEW.submitter, NEW.priority,
         NEW.created, NEW.summary, NEW.starts, NEW.ends, NEW.overlap, NEW.catchup, NEW.grace, NEW.deadline,
         NEW.jitter, NEW.sink)
        IS DISTINCT FROM
        (OLD.enabled, OLD.nextrun, OLD.timer, OLD.id, OLD.task, OLD.group_, OLD.subject, OLD.submitter, OLD.priority,
         OLD.created, OLD.summary, OLD.starts, OLD.ends, OLD.overlap, OLD.catchup, OLD.grace, OLD.deadline,
         OLD.jitter, OLD.sink)
        OR NEW.args IS DISTINCT FROM OLD.args))
  EXECUTE FUNCTION nextrun_task_edited();
COMMENT ON COLUMN periodic_task.sink IS 'job: submit a job; event: write an event to the outbox; else a queue of the configuration';

CREATE TABLE periodic_open (
  task_id   varchar(254) NOT NULL PRIMARY KEY,
  sink      varchar(64)  NOT NULL,
  ref       text         NOT NULL,
  jid       varchar(254) NOT NULL,
  due       timestamp    NOT NULL,
  submitted timestamp    NOT NULL
);
COMMENT ON TABLE periodic_open IS 'the newest job of each task in a queue that is not nextrun''s own; to end the wait for a job, delete its row';

-- Queued ticks wait until the row of their task's job is gone. As with jobs, the
-- tick may be queued between this statement and its commit.
-- +goose StatementBegin
CREATE FUNCTION nextrun_open_ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    INSERT INTO periodic_ready (task_id) SELECT DISTINCT task_id FROM periodic_tick WHERE decision = 'queued';
  ELSE
    INSERT INTO periodic_ready (task_id) SELECT task_id FROM ended
     WHERE EXISTS (SELECT 1 FROM periodic_task AS t WHERE t.id = ended.task_id AND t.overlap IN ('queue', 'replace'))
        OR EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.task_id = ended.task_id AND k.decision = 'queued');
  END IF;
  IF FOUND THEN
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER nextrun_open_ended AFTER DELETE ON periodic_open
  REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION nextrun_open_ended();
CREATE TRIGGER nextrun_open_truncated AFTER TRUNCATE ON periodic_open
  FOR EACH STATEMENT EXECUTE FUNCTION nextrun_open_ended();
REVOKE EXECUTE ON FUNCTION nextrun_open_ended() FROM PUBLIC;

-- +goose StatementBegin
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION nextrun_open_ended() SET search_path = %I, pg_temp', current_schema());
END $$;
-- +goose StatementEnd

-- +goose Down
-- The column sink goes with the table, or by itself, in 00002.
DROP TABLE periodic_open;
DROP FUNCTION nextrun_open_ended();
