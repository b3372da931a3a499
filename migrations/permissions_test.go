package migrations_test

import (
	"context"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/storetest"
)

var sqlBlock = regexp.MustCompile("(?s)```sql\n(.*?)```")

// roles gives a database the roles of docs/permissions.md, with names of its own,
// since roles belong to the whole server.
func (db *database) roles() (suffix string) {
	db.Helper()
	page, err := os.ReadFile("../docs/permissions.md")
	if err != nil {
		db.Fatal(err)
	}
	var statements strings.Builder
	for _, block := range sqlBlock.FindAllStringSubmatch(string(page), -1) {
		statements.WriteString(block[1])
	}
	suffix = "_" + db.one("SELECT md5(current_database())")[:12]
	names := regexp.MustCompile(`nextrun_(viewer|editor|consumer|scheduler)\b`)
	db.exec(names.ReplaceAllString(statements.String(), "${0}"+suffix))
	db.Cleanup(func() {
		for _, role := range []string{"viewer", "editor", "consumer", "scheduler"} {
			db.exec("DROP OWNED BY nextrun_" + role + suffix + "; DROP ROLE nextrun_" + role + suffix)
		}
	})
	return suffix
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

// permissions are statements in the order in which they are run, with the role
// that may, or may not, run them.
var permissions = []struct {
	role      string
	allowed   bool
	statement string
}{
	{"editor", true, "INSERT INTO periodic_task (id, task, timer, args, overlap) VALUES ('a', 'x', 'yearly', '--full', 'queue'), ('b', 'x', 'yearly', '{}', 'queue')"},
	{"editor", true, "UPDATE periodic_task SET timer = 'hourly', args = '{}' WHERE id = 'a'"},
	{"editor", true, "UPDATE periodic_task SET id = 'c' WHERE id = 'b'"},
	{"editor", true, "DELETE FROM periodic_task WHERE id = 'c'"},
	{"editor", true, "SELECT * FROM periodic_health, periodic_stale"},
	{"editor", false, "INSERT INTO job (task) VALUES ('x')"},
	{"editor", false, "UPDATE periodic_tick SET decision = 'late'"},
	{"editor", false, "DELETE FROM periodic_ready"},
	{"editor", false, "TRUNCATE periodic_task"},
	{"editor", false, "DELETE FROM scheduler_lock"},
	{"consumer", true, "INSERT INTO job (jid, task, tracker) VALUES ('j', 'x', 'a'), ('k', 'x', 'a')"},
	{"consumer", true, "UPDATE job SET state = 'success', finished = now() WHERE jid = 'j'"},
	{"consumer", true, "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'j', 'info', now(), 'm')"},
	{"consumer", true, "DELETE FROM job WHERE jid = 'k'"},
	{"consumer", false, "SELECT * FROM periodic_task"},
	{"consumer", false, "INSERT INTO periodic_ready (task_id) VALUES ('a')"},
	{"consumer", false, "INSERT INTO job_pause VALUES ('task', 'x', now())"},
	{"scheduler", true, "INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('a', now(), 'queued', now())"},
	{"scheduler", false, "DELETE FROM periodic_task"},
	{"scheduler", false, "INSERT INTO periodic_task (id, task, timer) VALUES ('d', 'x', 'daily')"},
	{"scheduler", false, "DELETE FROM job"},
	{"scheduler", false, "ALTER TABLE job ADD COLUMN mine text"},
	{"viewer", true, "SELECT * FROM periodic_task, job, scheduler_lock, outbox_lag, periodic_upcoming, periodic_overdue, periodic_stale"},
	{"viewer", false, "UPDATE periodic_task SET enabled = false"},
	{"viewer", false, "INSERT INTO job (task) VALUES ('x')"},
	{"viewer", false, "DELETE FROM joblog"},
	// A function that runs with its owner's rights must not serve others' tables.
	{"consumer", false, `CREATE TEMP TABLE trap (tracker text, state text);
		CREATE TRIGGER trap AFTER DELETE ON trap FOR EACH ROW EXECUTE FUNCTION public.nextrun_job_ended()`},
	{"editor", false, `CREATE TEMP TABLE trap (task_id text, decision text);
		CREATE TRIGGER trap AFTER INSERT ON trap REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_tick_queues()`},
}

func TestGrantsOfThePageOfPermissions(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	suffix := db.roles()
	connections := map[string]*storetest.Database{}
	for _, p := range permissions {
		role := "nextrun_" + p.role + suffix
		if connections[role] == nil {
			connections[role] = db.as(role)
		}
		_, err := connections[role].SQL.Exec(p.statement)
		switch {
		case p.allowed && err != nil:
			t.Errorf("the %s cannot: %s: %v", p.role, p.statement, err)
		case !p.allowed && (err == nil || !strings.Contains(err.Error(), "permission denied") && !strings.Contains(err.Error(), "must be owner")):
			t.Errorf("the %s must not: %s: %v", p.role, p.statement, err)
		}
	}
	db.want("3", "SELECT count(*) FROM periodic_ready WHERE task_id = 'a'") // two jobs that are gone, and a tick
}

// A scheduler and an executor work with the rights of their roles.
func TestServicesWorkWithTheGrantsOfThePage(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	suffix := db.roles()
	connect := func(role string) *store.DB {
		own, err := store.Open(t.Context(), db.as("nextrun_"+role+suffix).URL, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = own.Close() })
		if err := own.Migrator().Check(t.Context()); err != nil {
			t.Errorf("Check of the %s: %v", role, err)
		}
		return own
	}
	scheduling, consuming := connect("scheduler"), connect("consumer")
	s, err := periodic.New(scheduling.Periodic(), periodic.Config{Name: "s", Mode: periodic.ModeLeader, PollInterval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	e, err := jobqueue.NewExecutor(consuming.Jobs(), jobqueue.Config{Name: "e", PollInterval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	e.Register("x", func(_ context.Context, job *jobqueue.JobContext) error { job.Log("info", "at work"); return nil })
	for _, service := range []interface {
		Start(context.Context) error
		Stop(context.Context) error
	}{s, e} {
		if err := service.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = service.Stop(context.Background()) })
	}
	db.exec(`INSERT INTO periodic_task (id, task, timer, nextrun, sink, overlap) VALUES
		('a', 'x', 'yearly', '2026-01-01', 'job', 'replace'), ('b', 'x', 'yearly', '2026-01-01', 'event', 'skip')`)
	db.eventually("SELECT count(*) FROM job WHERE tracker = 'a' AND state = 'success'")
	db.eventually("SELECT count(*) FROM outbox_message")
}
