-- The same as in postgres.sql.
CREATE TABLE chaos_change (
  seq integer PRIMARY KEY AUTOINCREMENT, at timestamp NOT NULL, task_id text NOT NULL, was timestamp, due timestamp,
  nextrun timestamp, timer text, enabled boolean);
CREATE INDEX chaos_change_task ON chaos_change (task_id);
CREATE TRIGGER chaos_added AFTER INSERT ON periodic_task BEGIN
  INSERT INTO chaos_change (at, task_id, due, nextrun, timer, enabled)
  VALUES (strftime('%Y-%m-%d %H:%M:%f', 'now'), NEW.id, NEW.due, NEW.nextrun, NEW.timer, NEW.enabled);
END;
CREATE TRIGGER chaos_changed AFTER UPDATE ON periodic_task
  WHEN (OLD.due IS NULL) <> (NEW.due IS NULL) OR OLD.timer <> NEW.timer OR OLD.enabled <> NEW.enabled OR NEW.due IS NULL AND OLD.nextrun <> NEW.nextrun
BEGIN
  -- An edit comes twice, at the same time: as somebody made it, and then with what nextrun's trigger made of it, which alone counts.
  DELETE FROM chaos_change WHERE seq = (SELECT max(seq) FROM chaos_change WHERE task_id = NEW.id) AND at = strftime('%Y-%m-%d %H:%M:%f', 'now')
    AND was IS OLD.due AND due IS was AND NEW.due IS NULL AND timer = NEW.timer AND enabled = NEW.enabled;
  INSERT INTO chaos_change (at, task_id, was, due, nextrun, timer, enabled)
  VALUES (strftime('%Y-%m-%d %H:%M:%f', 'now'), NEW.id, OLD.due, NEW.due, NEW.nextrun, NEW.timer, NEW.enabled);
END;
CREATE TRIGGER chaos_deleted AFTER DELETE ON periodic_task BEGIN
  INSERT INTO chaos_change (at, task_id, was, enabled) VALUES (strftime('%Y-%m-%d %H:%M:%f', 'now'), OLD.id, OLD.due, 0);
END;

CREATE TABLE chaos_rule (seq integer PRIMARY KEY AUTOINCREMENT,
  at timestamp NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')), what text NOT NULL, value integer NOT NULL);

CREATE TABLE mail_queue (id varchar(36) PRIMARY KEY, task_id text NOT NULL, payload text NOT NULL, state varchar(10) NOT NULL DEFAULT 'new');
CREATE INDEX mail_state ON mail_queue (state);
CREATE VIEW letter AS SELECT id AS jid, task_id, '' AS handler, state, NULL AS due FROM mail_queue;
CREATE TABLE effect (jid varchar(36) NOT NULL, task_id text NOT NULL);
