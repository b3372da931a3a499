package audit

import "fmt"

// The database itself writes down what happens to the plan of a task: its edits, by whomever, and when it is planned after
// them. Between a row that makes a plan and the next row that ends it, every tick of the timer has to be accounted for.
const changeTable = `CREATE TABLE chaos_change (
	seq %s, at timestamp NOT NULL, task_id text NOT NULL, was timestamp, due timestamp, nextrun timestamp,
	timer text, enabled boolean)`

// When a plan appears, ends or follows another timer.
const changeWhen = `(OLD.due IS NULL) <> (NEW.due IS NULL) OR OLD.timer <> NEW.timer OR OLD.enabled <> NEW.enabled
	OR NEW.due IS NULL AND OLD.nextrun <> NEW.nextrun`

// others are a queue of somebody else, which three statements describe to nextrun, and what a handler writes that is SQL.
var others = []string{
	`CREATE TABLE mail_queue (id varchar(36) PRIMARY KEY, task_id text NOT NULL, payload text NOT NULL, state varchar(10) NOT NULL DEFAULT 'new')`,
	`CREATE INDEX mail_state ON mail_queue (state)`,
	`CREATE TABLE effect (jid varchar(36) NOT NULL, task_id text NOT NULL)`,
}

// TablesOfPostgres are statements that make the log of changes and what is beside nextrun; the role nextrun owns all of it.
func TablesOfPostgres() []string {
	return append([]string{
		fmt.Sprintf(changeTable, "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
		// NEW is NULL where a row is deleted, and OLD where it is inserted.
		`CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO public.chaos_change (at, task_id, was, due, nextrun, timer, enabled)
			VALUES (clock_timestamp() AT TIME ZONE 'UTC', coalesce(NEW.id, OLD.id), OLD.due, NEW.due, NEW.nextrun, NEW.timer, coalesce(NEW.enabled, false));
			RETURN NULL;
		END $$`,
		`CREATE TRIGGER chaos_born AFTER INSERT OR DELETE ON periodic_task FOR EACH ROW EXECUTE FUNCTION chaos_note()`,
		`CREATE TRIGGER chaos_changed AFTER UPDATE ON periodic_task FOR EACH ROW WHEN (` + changeWhen + `) EXECUTE FUNCTION chaos_note()`,
	}, append(others, "ALTER TABLE chaos_change OWNER TO nextrun", "ALTER TABLE mail_queue OWNER TO nextrun", "ALTER TABLE effect OWNER TO nextrun")...)
}

// TablesOfSQLite is the same for a file.
func TablesOfSQLite() []string {
	trigger := func(event, when, name, was, rest string) string {
		return `CREATE TRIGGER chaos_` + event + ` AFTER ` + event + ` ON periodic_task ` + when + ` BEGIN
			INSERT INTO chaos_change (at, task_id, was, due, nextrun, timer, enabled)
			VALUES (strftime('%Y-%m-%d %H:%M:%f', 'now'), ` + name + `.id, ` + was + `, ` + rest + `); END`
	}
	now := "NEW.due, NEW.nextrun, NEW.timer, NEW.enabled"
	return append([]string{
		fmt.Sprintf(changeTable, "integer PRIMARY KEY AUTOINCREMENT"),
		trigger("INSERT", "", "NEW", "NULL", now),
		trigger("UPDATE", "WHEN "+changeWhen, "NEW", "OLD.due", now),
		trigger("DELETE", "", "OLD", "OLD.due", "NULL, NULL, NULL, 0"),
	}, others...)
}
