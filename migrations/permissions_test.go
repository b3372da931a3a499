package migrations_test

import (
	"net/url"
	"regexp"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// roles makes the roles of a database, with names of its own, since roles belong to the
// whole server.
func (db *database) roles() (prefix string) {
	db.Helper()
	prefix = "t" + db.one("SELECT md5(current_database())")[:12] + "_"
	for _, role := range storetest.Roles() {
		db.DropRoles(prefix + role)
	}
	db.Script("", "roles.sql", "prefix="+prefix)
	return prefix
}

// as is the database for a role, with a search_path that does not matter.
func (db *database) as(role string) *storetest.Database {
	db.Helper()
	u, err := url.Parse(db.URL)
	if err != nil {
		db.Fatal(err)
	}
	query := u.Query()
	query.Set("options", "-c role="+role)
	u.RawQuery = query.Encode()
	return storetest.At(db.TB, u.String())
}

type permission struct {
	role      string
	allowed   bool
	statement string
}

// rights are statements in the order in which they are run, with the role
// that may, or may not, run them. Whole programs are run with these roles by make test-roles,
// and by TestProgramsWithTheRightsOfTheirRolesOnPostgres.
var rights = []permission{
	{"operator", true, "INSERT INTO periodic_task (id, task, timer, args, overlap) VALUES ('a', 'x', 'yearly', '--full', 'queue'), ('b', 'x', 'yearly', '{}', 'queue')"},
	{"operator", true, "UPDATE periodic_task SET timer = 'hourly', args = '{}' WHERE id = 'a'"},
	{"operator", true, "UPDATE periodic_task SET id = 'c' WHERE id = 'b'"},
	{"operator", true, "DELETE FROM periodic_task WHERE id = 'c'"},
	{"operator", true, "INSERT INTO periodic_calendar VALUES ('off', '2026-01-01'); DELETE FROM periodic_calendar"},
	{"operator", true, "INSERT INTO periodic_tick (task_id, due, decision) VALUES ('a', '2099-01-01', 'skipped'); DELETE FROM periodic_tick WHERE decided IS NULL"},
	{"operator", true, "INSERT INTO job_limit VALUES ('task', 'x', 0); DELETE FROM job_limit"},
	{"operator", true, "SELECT * FROM periodic_health, periodic_stale, event_store, worker"},
	{"operator", true, "INSERT INTO job (jid, task) VALUES ('by-hand', 'x'); UPDATE job SET cancel = now() WHERE jid = 'by-hand'; DELETE FROM job WHERE jid = 'by-hand'"},
	{"operator", true, "DELETE FROM scheduler_lock"},
	{"operator", false, "UPDATE scheduler_lock SET token = 0"},
	{"operator", false, "DELETE FROM worker"},
	{"operator", false, "UPDATE worker SET beat = 0"},
	{"operator", false, "DELETE FROM event_store"},
	{"operator", false, "UPDATE event_store SET payload = '{}'"},
	{"operator", false, "DELETE FROM outbox_message"},
	{"operator", false, "UPDATE joblog SET message = 'another'"},
	{"operator", false, "TRUNCATE periodic_task"},
	{"operator", false, "ALTER TABLE job ADD COLUMN mine text"},
	{"executor", true, "INSERT INTO job (jid, task, tracker) VALUES ('j', 'x', 'a'), ('k', 'x', 'a')"},
	{"executor", true, "UPDATE job SET state = 'success', finished = now() WHERE jid = 'j'"},
	{"executor", true, "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'j', 'info', now(), 'm')"},
	{"executor", true, "SELECT decision FROM periodic_tick"},
	{"executor", false, "DELETE FROM job WHERE jid = 'k'"},
	{"executor", false, "DELETE FROM joblog"},
	{"executor", false, "UPDATE joblog SET message = 'another'"},
	{"executor", false, "SELECT * FROM periodic_task"},
	{"executor", false, "INSERT INTO periodic_task (id, task, timer) VALUES ('d', 'x', 'daily')"},
	{"executor", false, "UPDATE periodic_tick SET decision = 'late'"},
	{"executor", false, "DELETE FROM periodic_tick"},
	{"executor", false, "SELECT * FROM event_store"},
	{"executor", false, "UPDATE scheduler_lock SET token = 0"},
	{"executor", false, "DELETE FROM job_limit"},
	{"executor", false, "SELECT setval('joblog_counter_seq', 1)"},
	{"scheduler", true, "INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('a', now(), 'late', now())"},
	{"scheduler", true, "DELETE FROM periodic_tick WHERE decision = 'late'"},
	{"scheduler", true, "DELETE FROM joblog WHERE jid = 'j'; DELETE FROM job WHERE jid = 'j'"},
	{"scheduler", true, "DELETE FROM event_store WHERE id IN (SELECT event_id FROM outbox_message)"},
	{"scheduler", false, "DELETE FROM periodic_task"},
	{"scheduler", false, "INSERT INTO periodic_task (id, task, timer) VALUES ('d', 'x', 'daily')"},
	{"scheduler", false, "UPDATE periodic_calendar SET reason = 'x'"},
	{"scheduler", false, "UPDATE joblog SET message = 'another'"},
	{"scheduler", false, "SELECT message FROM joblog"},
	{"scheduler", false, "DELETE FROM job_limit"},
	{"scheduler", true, "DELETE FROM scheduler_lock"},
	{"scheduler", false, "TRUNCATE job"},
	{"scheduler", false, "ALTER TABLE job ADD COLUMN mine text"},
	{"scheduler", false, "ALTER TABLE job DISABLE TRIGGER ALL"},
	{"scheduler", false, "CREATE TABLE public.mine (id int); DROP TABLE nextrun_migration"},
	{"scheduler", false, "UPDATE nextrun_migration SET version_id = 0"},
	{"relay", true, "SELECT * FROM event_store, outbox_message, scheduler_lock"},
	{"relay", true, "UPDATE outbox_message SET attempts = 1"},
	{"relay", false, "SELECT * FROM periodic_task"},
	{"relay", false, "SELECT * FROM job"},
	{"relay", false, "INSERT INTO job (task) VALUES ('x')"},
	{"relay", false, "TRUNCATE scheduler_lock"},
	{"relay", false, "DELETE FROM event_store"},
	{"relay", false, "UPDATE event_store SET payload = '{}'"},
	{"relay", false, "DELETE FROM outbox_message"},
	{"reader", true, "SELECT * FROM periodic_task, periodic_calendar, job, joblog, job_limit, scheduler_lock, worker, event_store, outbox_message, periodic_stale, periodic_health"},
	{"reader", false, "UPDATE periodic_task SET enabled = false"},
	{"reader", false, "SELECT * FROM periodic_task FOR UPDATE"},
	{"reader", false, "DO $$ BEGIN LOCK TABLE periodic_task; END $$"},
	{"reader", false, "INSERT INTO job (task) VALUES ('x')"},
	{"reader", false, "DELETE FROM joblog"},
	{"reader", false, "DELETE FROM worker"},
	{"reader", false, "INSERT INTO periodic_tick (task_id, due, decision) VALUES ('a', '2099-01-01', 'skipped')"},
	// A function that runs with its owner's rights must not serve others' tables.
	{"executor", false, `CREATE TEMP TABLE trap (tracker text, state text);
		CREATE TRIGGER trap AFTER DELETE ON trap FOR EACH ROW EXECUTE FUNCTION public.nextrun_job_ended()`},
	// Tables and types of a session's own serve no trigger in the place of nextrun's.
	{"executor", true, `CREATE TEMP TABLE periodic_tick (LIKE public.periodic_tick); CREATE TEMP TABLE periodic_task (id varchar); CREATE DOMAIN pg_temp.text AS bigint;
		INSERT INTO public.job (jid, task, tracker) VALUES ('shadowed', 'x', 'a'); UPDATE public.job SET state = 'failed', finished = now() WHERE jid = 'shadowed'`},
	{"operator", false, `CREATE TEMP TABLE trap (tracker text, state text);
		CREATE TRIGGER trap AFTER DELETE ON trap FOR EACH ROW EXECUTE FUNCTION public.nextrun_job_deleted()`},
}

func TestRolesMayDoWhatTheyNeedOnPostgres(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	db.tries(db.roles(), rights)
}

// tries runs statements as roles, and compares what they may.
func (db *database) tries(prefix string, list []permission) {
	db.Helper()
	connections := map[string]*storetest.Database{}
	for _, p := range list {
		role := prefix + p.role
		if connections[role] == nil {
			connections[role] = db.as(role)
		}
		_, err := connections[role].SQL.Exec(p.statement)
		switch {
		case p.allowed && err != nil:
			db.Errorf("the %s cannot: %s: %v", p.role, p.statement, err)
		case !p.allowed && (err == nil || !refused.MatchString(err.Error())):
			db.Errorf("the %s must not: %s: %v", p.role, p.statement, err)
		}
	}
}

var refused = regexp.MustCompile("permission denied|must be owner|violates row-level security|affected by row-level security")
