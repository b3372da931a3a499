package migrations_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/permissions"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
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
	{"acme", false, "UPDATE periodic_task SET nextrun = now()"},
	{"acme", false, "UPDATE periodic_task SET due = now()"},
	{"acme", false, "UPDATE periodic_task SET problem = NULL"},
	{"acme", false, "INSERT INTO periodic_task (id, task, group_, timer, worker) VALUES ('acme-x', 'report', 'acme', 'hourly', 'me')"},
	// What runs and what ran.
	{"acme", false, "INSERT INTO job (task, group_, tracker) VALUES ('report', 'acme', 'acme-report')"},
	{"acme", false, "UPDATE job SET state = 'cancelled'"},
	{"acme", false, "DELETE FROM joblog"},
	{"acme", false, "INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('acme-report', now(), 'late', now())"},
	{"acme", false, "UPDATE job_limit SET most = 100"},
	{"acme", false, "SELECT * FROM job_limit"},
	{"acme", false, "SELECT * FROM periodic_upcoming"},
	{"acme", false, "SELECT * FROM periodic_health"},
	{"acme", false, "SELECT * FROM worker_session"},
	{"acme", false, "SELECT * FROM event_store"},
	// The table as a whole.
	{"acme", false, "DO $$ BEGIN LOCK TABLE periodic_task IN ROW EXCLUSIVE MODE; END $$"},
	{"acme", false, "TRUNCATE periodic_task"},
	{"acme", false, "ALTER TABLE periodic_task DISABLE ROW LEVEL SECURITY"},
	{"acme", false, "DROP POLICY nextrun_all ON periodic_task"},
	{"acme", false, "SET row_security = off; SELECT * FROM periodic_task"},
	// The others work on.
	{"editor", true, "UPDATE periodic_task SET summary = 'seen' WHERE id = 'globex-1'"},
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
	acme := permissions.Tenant{Name: "acme", Handlers: []string{"backup"}}
	later := permissions.Tenant{Name: "acme", Handlers: []string{"report", "o'clock"}}
	prefix := db.roles(permissions.Tenant{Name: "globex", Handlers: []string{"report"}}, acme, later)
	db.tries(prefix, tenantRights)
	for query, want := range map[string]string{
		"SELECT string_agg(id, ' ' ORDER BY id DESC) FROM periodic_task":           "acme-report acme-b",
		"SELECT string_agg(task_id, ' ') FROM periodic_tick":                       "acme-report",
		"SELECT string_agg(jid, ' ') FROM job":                                     "a",
		"SELECT string_agg(jid, ' ') FROM joblog":                                  "a",
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
