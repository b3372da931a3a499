package database

import "fmt"

// The database itself writes down what happens to the plan of a task: its edits, by whomever, and when it is planned after
// them. Between a row that makes a plan and the next row that ends it, every tick of the timer has to be accounted for.
const changeTable = `CREATE TABLE chaos_change (
	seq %s, at timestamp NOT NULL, task_id text NOT NULL, was timestamp, due timestamp, nextrun timestamp,
	timer text, enabled boolean)`

// When a plan appears, ends or follows another timer.
const changeWhen = `(OLD.due IS NULL) <> (NEW.due IS NULL) OR OLD.timer <> NEW.timer OR OLD.enabled <> NEW.enabled
	OR NEW.due IS NULL AND OLD.nextrun <> NEW.nextrun`

// mailTable is a queue of somebody else, which three statements describe to nextrun.
const mailTable = `CREATE TABLE mail_queue (id varchar(36) PRIMARY KEY, task_id text NOT NULL, payload text NOT NULL,
	state varchar(10) NOT NULL DEFAULT 'new')`

const mailIndex = `CREATE INDEX mail_state ON mail_queue (state)`

func postgresTables() []string {
	row := func(name string) string {
		return `INSERT INTO public.chaos_change (at, task_id, was, due, nextrun, timer, enabled)
		VALUES (clock_timestamp() AT TIME ZONE 'UTC', ` + name + `.id, `
	}
	return []string{
		fmt.Sprintf(changeTable, "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"), mailTable, mailIndex,
		`CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF TG_OP = 'DELETE' THEN
				` + row("OLD") + `OLD.due, NULL, NULL, NULL, false); RETURN NULL;
			END IF;
			IF TG_OP = 'INSERT' THEN
				` + row("NEW") + `NULL, NEW.due, NEW.nextrun, NEW.timer, NEW.enabled); RETURN NULL;
			END IF;
			` + row("NEW") + `OLD.due, NEW.due, NEW.nextrun, NEW.timer, NEW.enabled); RETURN NULL;
		END $$`,
		`CREATE TRIGGER chaos_born AFTER INSERT OR DELETE ON periodic_task FOR EACH ROW EXECUTE FUNCTION chaos_note()`,
		`CREATE TRIGGER chaos_changed AFTER UPDATE ON periodic_task FOR EACH ROW WHEN (` + changeWhen + `) EXECUTE FUNCTION chaos_note()`,
		"ALTER TABLE chaos_change OWNER TO nextrun", "ALTER TABLE mail_queue OWNER TO nextrun",
	}
}

func sqliteTables() []string {
	trigger := func(event, when, name, was, rest string) string {
		return `CREATE TRIGGER chaos_` + event + ` AFTER ` + event + ` ON periodic_task ` + when + ` BEGIN
			INSERT INTO chaos_change (at, task_id, was, due, nextrun, timer, enabled)
			VALUES (strftime('%Y-%m-%d %H:%M:%f', 'now'), ` + name + `.id, ` + was + `, ` + rest + `); END`
	}
	now := "NEW.due, NEW.nextrun, NEW.timer, NEW.enabled"
	return []string{
		fmt.Sprintf(changeTable, "integer PRIMARY KEY AUTOINCREMENT"), mailTable, mailIndex,
		trigger("INSERT", "", "NEW", "NULL", now),
		trigger("UPDATE", "WHEN "+changeWhen, "NEW", "OLD.due", now),
		trigger("DELETE", "", "OLD", "OLD.due", "NULL, NULL, NULL, 0"),
	}
}
