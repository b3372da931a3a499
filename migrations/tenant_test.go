package migrations_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// tenantRights are what a tenant may do with tasks whose ids begin with acme-, beside
// tasks and jobs of others.
var tenantRights = []permission{
	{"acme", true, "INSERT INTO periodic_task (id, task, group_, timer, args) VALUES ('acme-report', 'report', 'acme', 'hourly', '{}'), ('acme-b', 'report', 'acme', 'hourly', '{}')"},
	{"acme", true, "UPDATE periodic_task SET timer = 'daily', enabled = true, paused = now() WHERE id = 'acme-report'"},
	{"acme", true, "UPDATE periodic_task SET paused = NULL WHERE id = 'acme-report'"},
	{"acme", true, "UPDATE periodic_task SET timer = 'weekly'"}, // finds no other rows
	{"acme", false, "DELETE FROM periodic_task WHERE id = 'acme-b'"},
	// Ids of others, also those that are there, which cannot be told from those that are not.
	{"acme", false, "INSERT INTO periodic_task (id, task, group_, timer) VALUES ('backup', 'report', 'acme', 'hourly')"},
	{"acme", false, "INSERT INTO periodic_task (id, task, group_, timer) VALUES ('globex-1', 'report', 'acme', 'hourly') ON CONFLICT (id) DO NOTHING"},
	{"acme", false, "INSERT INTO periodic_task (id, task, group_, timer) VALUES ('globex-1', 'report', 'acme', 'hourly') ON CONFLICT (id) DO UPDATE SET timer = 'minutely'"},
	{"acme", false, "INSERT INTO periodic_task (id, task, group_, timer) VALUES ('Acme-1', 'report', 'acme', 'hourly')"},
	{"acme", false, "UPDATE periodic_task SET id = 'globex-2' WHERE id = 'acme-report'"},
	// Handlers, groups and queues that are not the tenant's.
	{"acme", false, "INSERT INTO periodic_task (id, task, group_, timer) VALUES ('acme-x', 'backup', 'acme', 'hourly')"},
	{"acme", false, "INSERT INTO periodic_task (id, task, group_, timer) VALUES ('acme-x', 'report', 'globex', 'hourly')"},
	{"acme", false, "INSERT INTO periodic_task (id, task, group_, timer, sink) VALUES ('acme-x', 'report', 'acme', 'hourly', 'event')"},
	{"acme", false, "UPDATE periodic_task SET task = 'backup' WHERE id = 'acme-report'"},
	{"acme", false, "UPDATE periodic_task SET group_ = 'globex' WHERE id = 'acme-report'"},
	{"acme", false, "UPDATE periodic_task SET sink = 'event'"},
	// Marks and plans.
	{"acme", false, "UPDATE periodic_task SET worker = 'me', marked = now() WHERE id = 'acme-report'"},
	{"acme", true, "UPDATE periodic_task SET nextrun = '2099-01-01' WHERE id = 'acme-report'"},
	{"acme", false, "UPDATE periodic_task SET due = now()"},
	{"acme", false, "UPDATE periodic_task SET problem = NULL"},
	{"acme", false, "INSERT INTO periodic_task (id, task, group_, timer, worker) VALUES ('acme-x', 'report', 'acme', 'hourly', 'me')"},
	// What runs and what ran.
	{"acme", false, "INSERT INTO job (task, group_, tracker) VALUES ('report', 'acme', 'acme-report')"},
	{"acme", false, "UPDATE job SET state = 'cancelled'"},
	{"acme", false, "DELETE FROM joblog"},
	{"acme", false, "INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('acme-report', now(), 'late', now())"},
	{"acme", false, "UPDATE job_limit SET max = 100"},
	{"acme", false, "SELECT * FROM job_limit"},
	{"acme", false, "SELECT * FROM worker"},
	{"acme", false, "INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 't', 'y', 'acme-report', 1)"},
	{"acme", false, "UPDATE outbox_message SET published = now()"},
	// The table as a whole.
	{"acme", false, "DO $$ BEGIN LOCK TABLE periodic_task IN ROW EXCLUSIVE MODE; END $$"},
	{"acme", false, "TRUNCATE periodic_task"},
	{"acme", false, "ALTER TABLE periodic_task DISABLE ROW LEVEL SECURITY"},
	{"acme", false, "DROP POLICY nextrun_all ON periodic_task"},
	{"acme", false, "SET row_security = off; SELECT * FROM periodic_task"},
	// The others work on.
	{"operator", true, "UPDATE periodic_task SET summary = 'seen' WHERE id = 'globex-1'"},
	{"scheduler", true, "UPDATE periodic_task SET nextrun = '2026-01-01' WHERE id = 'acme-report'"},
}

func TestTenantMayManageItsOwnTasksOnPostgres(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	db.exec(`INSERT INTO periodic_task (id, task, group_, timer) VALUES ('globex-1', 'report', 'globex', 'yearly');
		INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('globex-1', now(), 'late', now()), ('acme-report', now(), 'late', now());
		INSERT INTO job (jid, task, group_, tracker) VALUES ('g', 'report', 'globex', 'globex-1'), ('a', 'report', 'acme', 'acme-report'),
			('n', 'report', 'acme', NULL), ('f', 'report', 'globex', 'acme-report');
		INSERT INTO joblog (id, jid, level, created, message) VALUES ('g', 'g', 'info', now(), 'm'), ('a', 'a', 'info', now(), 'm')`)
	before := db.one("SELECT count(*) FROM periodic_task")
	prefix := db.roles()
	db.DropRoles(prefix+"acme", prefix+"globex")
	db.Script("", "tenant.sql", "prefix="+prefix, "name=globex", "handlers=report")
	db.Script("", "tenant.sql", "prefix="+prefix, "name=acme", "handlers=backup")
	db.Script("", "tenant.sql", "prefix="+prefix, "name=acme", "handlers=report,o'clock")
	db.tries(prefix, tenantRights)
	// Views read with the rights of who asks from PostgreSQL 15 on; before, a tenant must not read them at all.
	if db.one("SELECT current_setting('server_version_num')") < "150000" {
		db.tries(prefix, []permission{{"acme", false, "SELECT * FROM periodic_run"}, {"acme", false, "SELECT * FROM periodic_health"}, {"acme", false, "SELECT * FROM periodic_stale"}})
	} else if got := db.as(prefix + "acme").One(`SELECT (SELECT string_agg(DISTINCT task_id, ' ') FROM periodic_run) || ', ' || (SELECT string_agg(id, ' ' ORDER BY id DESC) FROM periodic_health) || ', ' || (SELECT count(*) FROM periodic_stale WHERE id NOT LIKE 'acme-%')`); got != "acme-report, acme-report acme-b, 0" {
		t.Errorf("through the views the tenant sees %q", got)
	}
	for query, want := range map[string]string{
		"SELECT string_agg(id, ' ' ORDER BY id DESC) FROM periodic_task":           "acme-report acme-b",
		"SELECT string_agg(task_id, ' ') FROM periodic_tick":                       "acme-report",
		"SELECT string_agg(jid, ' ') FROM job":                                     "a",
		"SELECT string_agg(jid, ' ') FROM joblog":                                  "a",
		"SELECT count(*)::text FROM event_store":                                   "0",
		"SELECT count(*)::text FROM periodic_open":                                 "0",
		"SELECT count(*)::text FROM periodic_task WHERE 1 / (length(id) - 8) > -9": "2", // an error would tell of globex-1
	} {
		if got := db.as(prefix + "acme").One(query); got != want {
			t.Errorf("the tenant sees %q, want %q: %s", got, want, query)
		}
	}
	db.want(before+" yearly", "SELECT count(*) - 2 || ' ' || (SELECT timer FROM periodic_task WHERE id = 'globex-1') FROM periodic_task")
	if err := db.m.Check(t.Context()); err != nil {
		t.Errorf("the tables differ from what this version expects: %v", err)
	}
}

// In a schema of its own, an owner that may do nothing else makes the tables, and the scripts run as that
// owner. A tenant without a name or handlers is refused.
func TestScriptsInASchemaOfItsOwnOnPostgres(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	prefix := "c" + d.One("SELECT md5(current_database())")[:12] + "_"
	for _, role := range storetest.Roles() {
		d.DropRoles(prefix + role)
	}
	d.DropRoles(prefix+"owner", prefix+"acme") // before the others, to whom the owner has granted rights
	d.Script("", "owner.sql", "schema=my_jobs", "prefix="+prefix)
	own, err := store.Open(t.Context(), d.URL+"&options=-c%20role="+prefix+"owner", store.Options{Schema: "my_jobs"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
	if _, err := migrations.Of(own).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Script("", "roles.sql", "schema=my_jobs", "prefix="+prefix)
	d.Script("", "tenant.sql", "schema=my_jobs", "prefix="+prefix, "name=acme", "handlers=report")
	d.Want(prefix+"owner", `SELECT string_agg(DISTINCT tableowner, ' ') FROM pg_tables WHERE schemaname = 'my_jobs'`)
	// Who makes roles has made them; the rest is up to the owner.
	d.Script(prefix+"owner", "roles.sql", "schema=my_jobs", "prefix="+prefix)
	d.Script(prefix+"owner", "tenant.sql", "schema=my_jobs", "prefix="+prefix, "name=acme", "handlers=backup", "ids=acme/")
	d.Exec("SET ROLE " + prefix + `acme; INSERT INTO "my_jobs".periodic_task (id, task, group_, timer) VALUES ('acme/1', 'backup', 'acme', 'daily'); RESET ROLE`)
	d.Want("1", `SELECT count(*) FROM "my_jobs".periodic_task WHERE id LIKE 'acme%'`)
	for _, lacks := range []struct{ want, variable string }{{"name the tenant", "handlers=report"}, {"name what its tasks may run", "name=acme"}} {
		err := storetest.RunScript(t.Context(), d.URL, "tenant.sql", "schema=my_jobs", "prefix="+prefix, lacks.variable)
		if err == nil || !strings.Contains(err.Error(), lacks.want) {
			t.Errorf("only %s: %v", lacks.variable, err)
		}
	}
}
