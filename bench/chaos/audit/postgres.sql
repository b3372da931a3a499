-- The database itself writes down what happens to the plan of a task: its edits, by whomever, and when it is planned after
-- them. Between a row that makes a plan and the next row that ends it, every tick of the timer has to be accounted for.
CREATE TABLE chaos_change (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamp NOT NULL, task_id text NOT NULL, was timestamp, due timestamp,
  nextrun timestamp, timer text, enabled boolean);
-- NEW is NULL where a row is deleted, and OLD where it is inserted.
CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO public.chaos_change (at, task_id, was, due, nextrun, timer, enabled)
  VALUES (clock_timestamp() AT TIME ZONE 'UTC', coalesce(NEW.id, OLD.id), OLD.due, NEW.due, NEW.nextrun, NEW.timer, coalesce(NEW.enabled, false));
  RETURN NULL;
END $$;
CREATE TRIGGER chaos_born AFTER INSERT OR DELETE ON periodic_task FOR EACH ROW EXECUTE FUNCTION chaos_note();
-- When a plan appears, ends or follows another timer.
CREATE TRIGGER chaos_changed AFTER UPDATE ON periodic_task FOR EACH ROW
  WHEN ((OLD.due IS NULL) <> (NEW.due IS NULL) OR OLD.timer <> NEW.timer OR OLD.enabled <> NEW.enabled OR NEW.due IS NULL AND OLD.nextrun <> NEW.nextrun)
  EXECUTE FUNCTION chaos_note();

-- What calendars and limits say from when on; who edits them writes it in the same transaction.
CREATE TABLE chaos_rule (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamp NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'), what text NOT NULL, value integer NOT NULL);

-- A queue of somebody else, which statements describe to nextrun, and what a handler writes that is SQL.
CREATE TABLE mail_queue (id varchar(36) PRIMARY KEY, task_id text NOT NULL, payload text NOT NULL, state varchar(10) NOT NULL DEFAULT 'new');
CREATE INDEX mail_state ON mail_queue (state);
-- That, and River's.
CREATE VIEW letter AS
  SELECT id AS jid, task_id, '' AS handler, state, NULL::timestamp AS due FROM mail_queue
  UNION ALL SELECT metadata->'nextrun'->>'jid', metadata->'nextrun'->>'task', kind,
    CASE state WHEN 'completed' THEN 'success' WHEN 'discarded' THEN 'failed' ELSE state::text END,
    (metadata->'nextrun'->>'due')::timestamptz AT TIME ZONE 'UTC' FROM river_job;
CREATE TABLE effect (jid varchar(36) NOT NULL, task_id text NOT NULL);

ALTER TABLE chaos_change OWNER TO nextrun;
ALTER TABLE chaos_rule OWNER TO nextrun;
ALTER TABLE mail_queue OWNER TO nextrun;
ALTER TABLE effect OWNER TO nextrun;
