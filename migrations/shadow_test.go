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
func TestTriggersRunNothingOfOthers(t *testing.T) {
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
func TestEveryTriggerFunctionHasAFixedSearchPath(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	db.want("", `SELECT coalesce(string_agg(proname, ', '), '') FROM pg_proc
		WHERE pronamespace = 'public'::regnamespace AND prorettype = 'trigger'::regtype
		AND NOT 'search_path=pg_catalog, pg_temp' = ANY (coalesce(proconfig, '{}'))`)
	db.want("", `SELECT coalesce(string_agg(proname, ', '), '') FROM pg_proc
		WHERE pronamespace = 'public'::regnamespace AND prosecdef AND has_function_privilege('public', oid, 'EXECUTE')`)
}

// Where another schema comes first in the search_path, nobody compares its tables with those of nextrun, or changes them.
func TestSchemaThatHidesTheTablesIsNamed(t *testing.T) {
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
