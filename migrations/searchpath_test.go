package migrations_test

import (
	"database/sql"
	"net/url"
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

// Writers need not have nextrun's schema in their search_path: psql's default is
// another one, pg_dump and postgres_fdw set none.
func TestTriggersFindTheirTablesWhateverTheSearchPath(t *testing.T) {
	t.Parallel()
	address := storetest.PostgresURL(t)
	plain := open(storetest.At(t, address))
	plain.exec("CREATE SCHEMA one; CREATE SCHEMA two")
	for _, schema := range []string{"one", "two"} {
		db := open(storetest.At(t, withSearchPath(t, address, schema)))
		db.up()
		db.exec(editedRows)
	}
	for _, path := range []string{"public", "", "pg_catalog", "two"} {
		writer, err := sql.Open("postgres", withSearchPath(t, address, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			"INSERT INTO one.periodic_task (id, task, timer, args) VALUES ('new', 'x', 'daily', '--full')",
			"UPDATE one.periodic_task SET args = '{}', timer = 'hourly' WHERE id = 'new'",
			"UPDATE one.periodic_task SET id = 'newer' WHERE id = 'new'",
			"DELETE FROM one.periodic_task WHERE id = 'newer'",
			"INSERT INTO one.job (jid, task, tracker) VALUES ('j', 'x', 'a')", "UPDATE one.job SET state = 'success' WHERE jid = 'j'",
			"DELETE FROM one.job WHERE jid = 'j'",
			"INSERT INTO one.periodic_tick (task_id, due, decision, decided) VALUES ('a', now(), 'late', now()); DELETE FROM one.periodic_tick WHERE decision = 'late'",
			"INSERT INTO one.event_store (id, topic, type, aggregate_id, aggregate_version) VALUES (gen_random_uuid(), 't', 'x', gen_random_uuid(), 1)",
			"INSERT INTO one.job_limit VALUES ('task', 'x', 0)", "DELETE FROM one.job_limit",
			"UPDATE one.scheduler_lock SET expires = '2026-01-01'", "DELETE FROM one.scheduler_lock",
		} {
			if _, err := writer.Exec(statement); err != nil {
				t.Errorf("search_path %q: %s: %v", path, statement, err)
			}
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
	}
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
