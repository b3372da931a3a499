package migrations_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// withSearchPath is a connection whose sessions have the given search_path.
func withSearchPath(t *testing.T, address, path string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", path)
	u.RawQuery = query.Encode()
	return u.String()
}

// shadows are what a login without any right on nextrun's tables makes where it may create: each
// fits nextrun's columns better than that of pg_catalog, or has the same name, and records
// who runs it.
const shadows = `
CREATE TABLE ran (who text, what text);
GRANT INSERT ON ran TO PUBLIC;
CREATE FUNCTION equal(varchar, varchar) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN INSERT INTO public.ran VALUES (current_user, '='); RETURN $1::text OPERATOR(pg_catalog.=) $2::text; END $$;
CREATE FUNCTION unequal(varchar, varchar) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN INSERT INTO public.ran VALUES (current_user, '<>'); RETURN $1::text OPERATOR(pg_catalog.<>) $2::text; END $$;
CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = equal);
CREATE OPERATOR <> (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = unequal);
CREATE FUNCTION pg_notify(varchar, varchar) RETURNS void LANGUAGE sql AS $$ INSERT INTO public.ran VALUES (current_user, 'pg_notify') $$;
CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ INSERT INTO public.ran VALUES (current_user, 'clock'); SELECT pg_catalog.clock_timestamp() $$;
CREATE FUNCTION nextrun_args_problem(varchar) RETURNS text LANGUAGE sql AS $$ INSERT INTO public.ran VALUES (current_user, 'args'); SELECT NULL::text $$;
CREATE FUNCTION checked(pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES (current_user, 'domain'); RETURN true; END $$;
CREATE DOMAIN json AS pg_catalog.text CHECK (public.checked(VALUE));
CREATE DOMAIN text AS pg_catalog.text CHECK (public.checked(VALUE));
CREATE TYPE own AS (v pg_catalog.text);
CREATE FUNCTION owned(varchar) RETURNS own LANGUAGE sql AS $$ INSERT INTO public.ran VALUES (current_user, 'cast'); SELECT ROW($1)::public.own $$;
CREATE CAST (varchar AS own) WITH FUNCTION owned(varchar) AS IMPLICIT;`

// fires are statements that fire all triggers of nextrun.
var fires = []string{
	"INSERT INTO one.periodic_task (id, task, timer, overlap, args) VALUES ('a', 'x', 'daily', 'queue', '--full'), ('b', 'x', 'daily', 'queue', '{}')",
	"UPDATE one.periodic_task SET args = '{ }', timer = 'hourly'",
	"UPDATE one.periodic_task SET paused = now()",
	"UPDATE one.periodic_task SET paused = NULL",
	"INSERT INTO one.job (jid, task, tracker, due) VALUES ('j', 'x', 'a', '2026-01-01'), ('k', 'x', 'b', '2026-01-01')",
	"INSERT INTO one.periodic_tick (task_id, due, decision, jid, decided) VALUES ('a', '2026-01-01', 'submitted', 'j', now())",
	"UPDATE one.job SET state = 'success' WHERE jid OPERATOR(pg_catalog.=) 'j'",
	"DELETE FROM one.job WHERE jid OPERATOR(pg_catalog.=) 'j'",
	"INSERT INTO one.periodic_open (task_id, sink, ref, jid, due, submitted, look) VALUES ('a', 'river', '1', 'j', now(), now(), now())",
	"DELETE FROM one.periodic_open",
	"UPDATE one.periodic_task SET id = 'c' WHERE id OPERATOR(pg_catalog.=) 'b'",
	"DELETE FROM one.periodic_task",
	"INSERT INTO one.event_store (id, topic, type, aggregate_id, aggregate_version) VALUES (gen_random_uuid(), 't', 'x', gen_random_uuid(), 1)",
	"UPDATE one.scheduler_lock SET expires = '2026-01-01'",
	"DELETE FROM one.scheduler_lock",
	"TRUNCATE one.job, one.periodic_open, one.periodic_task CASCADE",
}

// Writers need not have nextrun's schema in their search_path: psql's default is another one, pg_dump and postgres_fdw set
// none. A login that may create in nextrun's schema makes operators, functions, casts and domains that
// the functions of triggers could take for those of PostgreSQL. None is ever run.
func TestTriggersRunNothingOfOthersOnPostgres(t *testing.T) {
	t.Parallel()
	address := storetest.PostgresURL(t)
	plain := open(storetest.At(t, address))
	plain.exec("CREATE SCHEMA one; GRANT CREATE, USAGE ON SCHEMA one TO PUBLIC")
	open(storetest.At(t, withSearchPath(t, address, "one"))).up()
	plain.exec("SET search_path = one; " + strings.ReplaceAll(shadows, "public.", "one.") + "; RESET search_path")
	for _, statement := range fires {
		plain.exec(statement)
	}
	plain.want("", "SELECT coalesce(string_agg(DISTINCT what, ', '), '') FROM one.ran")
	plain.want("success", "SELECT outcome FROM one.periodic_tick")
	plain.exec("INSERT INTO one.periodic_task (id, task, timer) VALUES ('m', 'x', 'daily')")
	// With the path of before, the same statements run them.
	plain.exec("ALTER FUNCTION one.nextrun_job_deleted() SET search_path = one, pg_temp")
	plain.exec("INSERT INTO one.job (jid, task, tracker) VALUES ('l', 'x', 'm'); DELETE FROM one.job")
	plain.want("=", "SELECT DISTINCT what FROM one.ran")
}

// A function that runs with its owner's rights must not serve others, and none
// may depend on the search_path of the writer. This holds for later migrations
// as well: see CONTRIBUTING.md.
func TestEveryTriggerFunctionHasAFixedSearchPathOnPostgres(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	db.want("", `SELECT coalesce(string_agg(proname, ', '), '') FROM pg_proc
		WHERE pronamespace = 'public'::regnamespace AND prorettype = 'trigger'::regtype
		AND NOT 'search_path=pg_catalog, pg_temp' = ANY (coalesce(proconfig, '{}'))`)
	db.want("", `SELECT coalesce(string_agg(proname, ', '), '') FROM pg_proc
		WHERE pronamespace = 'public'::regnamespace AND prosecdef AND has_function_privilege('public', oid, 'EXECUTE')`)
}

// Where another schema comes first in the search_path, nobody compares its tables with those of nextrun, or changes them.
func TestSchemaThatHidesTheTablesIsNamedOnPostgres(t *testing.T) {
	t.Parallel()
	address := storetest.PostgresURL(t)
	plain := open(storetest.At(t, address))
	plain.up()
	plain.exec("CREATE SCHEMA other; CREATE TABLE other.job (id int)")
	hidden := open(storetest.At(t, withSearchPath(t, address, "other,public")))
	const want = "nextrun's tables are in the schema public, and the search_path begins with other; name theirs: --schema public"
	if err := hidden.m.Check(t.Context()); err == nil || err.Error() != want {
		t.Errorf("check: %v", err)
	}
	if _, err := hidden.m.Up(t.Context()); err == nil || err.Error() != want {
		t.Errorf("up: %v", err)
	}
}

// wrongTypes are values that SQLite's dynamic types would accept, by the columns that must refuse them, and statements
// that insert one.
var (
	wrongTypes = map[string][]string{
		"x'61'":                     {"job.jid", "job.task", "job.group_", "job.args", "job.tracker", "job.state", "job.worker", "joblog.jid", "joblog.message", "periodic_task.worker", "periodic_task.args", "event_store.topic", "outbox_message.topic"},
		"'a' || char(0)":            {"job.jid", "job.group_"},
		"1.5":                       {"job.priority", "job.retries", "periodic_task.priority", "event_store.aggregate_version"},
		"3000000000":                {"job.priority", "periodic_task.priority"},
		"'many'":                    {"job.priority", "job.retries", "job.single", "joblog.counter", "outbox_message.attempts"},
		"unixepoch()":               {"job.submitted", "job.due", "job.finished", "job.cancel", "job.retry", "joblog.created", "event_store.created", "outbox_message.published", "outbox_message.dead"},
		"'yesterday'":               {"job.submitted", "job.retry"},
		"'2026-02-30 00:00:00'":     {"job.submitted"},
		"'2026-02-03 04:05:06.'":    {"job.submitted"},
		"printf('%.255c', 'g')":     {"job.group_"},
		"unixepoch(), worker = 'w'": {"periodic_task.marked"},
		"'', worker = 'w'":          {"periodic_task.marked"},
	}
	wrongInserts = map[string]string{
		"job: jid":                 "INSERT INTO job (jid, task) VALUES ('', 'x')",
		"job: task":                "INSERT INTO job (task) VALUES (NULL)",
		"job: args":                "INSERT INTO job (task, args) VALUES ('x', x'7b7d')",
		"job: priority":            "INSERT INTO job (task, priority) VALUES ('x', 1.5)",
		"job: submitted":           "INSERT INTO job (task, submitted) VALUES ('x', unixepoch())",
		"job: due":                 "INSERT INTO job (task, due) VALUES ('x', 0)",
		"joblog: jid":              "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', x'61', 'info', datetime('now'), 'm')",
		"periodic_task: marked":    "INSERT INTO periodic_task (id, task, timer, worker, marked) VALUES ('t', 'x', 'daily', 'w', 5)",
		"event_store: id":          "INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES (randomblob(8), 't', 'y', 'a', 2)",
		"outbox_message: event_id": "INSERT INTO outbox_message (event_id, topic) VALUES (x'65', 't')",
	}
)

const typedRows = `INSERT INTO job (jid, task) VALUES ('j', 'x');
	INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'j', 'info', '2026-03-04 05:06:07', 'm');
	INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'x', 'daily');
	INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 't', 'y', 'a', 1);
	INSERT INTO outbox_message (event_id, topic) VALUES ('e', 't')`

func TestSQLiteRefusesValuesOfWrongTypes(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.SQLite)
	db.exec(typedRows)
	refuses := func(column, statement string) {
		t.Helper()
		if _, err := db.SQL.Exec(statement); err == nil || !strings.Contains(err.Error(), column+" must be ") {
			t.Errorf("%s: %v; it should be refused, naming %s", statement, err, column)
		}
	}
	for column, statement := range wrongInserts {
		refuses(column, statement)
	}
	for value, columns := range wrongTypes {
		for _, of := range columns {
			table, column, _ := strings.Cut(of, ".")
			refuses(table+": "+column, "UPDATE "+table+" SET "+column+" = "+value)
		}
	}
}

// What has the right type is accepted, on both databases alike.
func TestValuesOfRightTypes(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec(typedRows)
		db.exec(`INSERT INTO job (jid, task, group_, args, subject, submitter, submitted, priority, tracker, due, single)
			VALUES ('ü-1', 'x', 'g', 'not JSON', '', '', '2026-03-04 05:06:07', -2147483648, 't', '2026-03-04 05:06:07.000001', true);
			UPDATE job SET state = 'running', worker = '', started = '2026-03-04 05:06:07.1', startedmillis = 9007199254740993;
			UPDATE job SET state = 'failed', finished = '2026-03-04 05:06:07.123456', result = '', worker = NULL;
			UPDATE periodic_task SET worker = 'w', marked = '2026-03-04 05:06:07', args = 'not JSON';
			UPDATE periodic_task SET worker = 'w', marked = '2026-03-04 05:06:07.5', problem = '';
			UPDATE outbox_message SET published = '2026-03-04 05:06:07', attempts = 2, problem = 'refused'`)
	})
}

// Tables that were found belong to other programs, which may write what they
// always wrote.
func TestFoundTablesTakeWhatTheyTook(t *testing.T) {
	t.Parallel()
	db := open(storetest.New(t, storetest.SQLite))
	db.execFile("../testdata/docspell/adr0012.sql")
	db.up()
	db.exec(`INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress)
		VALUES (x'00ff', 'x', 'g', '{}', '', unixepoch(), 'me', 1.5, 'waiting', 0, 0);
		INSERT INTO joblog (id, jid, level, created, message) VALUES (x'01', x'00ff', 'info', 5, x'61');
		UPDATE periodic_task SET worker = 'someone', marked = unixepoch()`)
}

// A row that got a wrong value while the triggers were gone can still be worked on.
func TestOldWrongValuesHoldUpNoUpdate(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.SQLite)
	db.exec("DROP TRIGGER nextrun_job_refuse_added")
	db.exec("INSERT INTO job (jid, task, priority, retries) VALUES (x'00ff', 'x', 'high', 'many')")
	db.up() // makes the triggers again
	db.exec("UPDATE job SET state = 'failed', finished = '2026-03-04 05:06:07.000000', result = 'wrong' WHERE jid = x'00ff'")
	db.exec("UPDATE job SET priority = 0 WHERE jid = x'00ff'")
	db.want("0", "SELECT priority FROM job WHERE jid = x'00ff'")
}
