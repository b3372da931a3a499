package scheduler_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// notices listens to the channel of tasks, as the schedulers do.
type notices struct {
	f        *fixture
	listener *pq.Listener
}

func (f *fixture) listen() notices {
	f.Helper()
	l := pq.NewListener(f.URL, time.Second, time.Second, nil)
	f.Cleanup(func() { _ = l.Close() })
	f.done(l.Listen("nextrun_task"))
	return notices{f, l}
}

// count returns how many notifications came since the last count. A mark of our
// own tells the end: notifications come in the order of commits.
func (n notices) count() int {
	n.f.Helper()
	n.f.exec("NOTIFY nextrun_task, 'end of the test'")
	limit := time.After(storetest.Patience)
	for count := 0; ; {
		select {
		case got := <-n.listener.Notify:
			if got != nil && got.Extra == "end of the test" {
				return count
			}
			count++
		case <-limit:
			n.f.Fatalf("no notification within %s", storetest.Patience)
		}
	}
}

// One notification for each transaction of a user that changes tasks, however
// many rows it touches, and none for what changes nothing.
func TestNoticeOncePerTransaction(t *testing.T) {
	f := newPostgresFixture(t)
	n := f.listen()
	for _, step := range []struct {
		what, statements string
		want             int
	}{
		{"insert of many", "INSERT INTO periodic_task (id, task, timer) SELECT 'task-' || n, 'backup', 'yearly' FROM generate_series(1, 500) AS n", 1},
		{"edit of many", "UPDATE periodic_task SET priority = 5", 1},
		{"run now", "UPDATE periodic_task SET nextrun = now() AT TIME ZONE 'UTC' + interval '1 day' WHERE id = 'task-7'", 1},
		{"several statements", "BEGIN; UPDATE periodic_task SET subject = 'a'; UPDATE periodic_task SET args = '[]' WHERE id = 'task-1'; " +
			"INSERT INTO periodic_task (id, task, timer) VALUES ('more', 'backup', 'yearly'); COMMIT", 1},
		{"rolled back", "BEGIN; UPDATE periodic_task SET subject = 'b'; ROLLBACK", 0},
		{"edit without a change", "UPDATE periodic_task SET priority = priority, args = args, timer = timer", 0},
		{"mark", "UPDATE periodic_task SET worker = 'somebody', marked = now() WHERE id = 'task-7'", 0},
		{"problem", "UPDATE periodic_task SET problem = 'none' WHERE id = 'task-7'", 0},
		{"no row", "UPDATE periodic_task SET priority = 6 WHERE id = 'nobody'", 0},
	} {
		f.exec(step.statements)
		if got := n.count(); got != step.want {
			t.Errorf("%s: %d notifications, want %d", step.what, got, step.want)
		}
	}
}

// What the scheduler itself does wakes nobody: planning, claiming, submitting,
// clearing marks; only the end of a job that a tick waits for does.
func TestNoticeNoneOfTheScheduler(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) SELECT 'task-' || n, 'backup', 'yearly', 'skip' FROM generate_series(1, 50) AS n")
	f.exec(insertTask, "bad", "nonsense")
	n := f.listen()
	n.count()
	f.once() // plans
	f.exec("UPDATE periodic_task SET due = '2026-01-01', nextrun = '2026-01-01'")
	f.die()
	f.once()
	f.want(50, "SELECT count(*) FROM job")
	if got := n.count(); got != 0 {
		t.Errorf("%d notifications of the scheduler's own work", got)
	}
	f.exec("UPDATE job SET state = 'success'")
	if got := n.count(); got != 0 {
		t.Errorf("%d notifications of jobs for whose end no tick can wait", got)
	}
}

// denied keeps new connections from the database while do runs.
func (f *fixture) denied(do func()) {
	f.Helper()
	u, err := url.Parse(f.URL)
	f.done(err)
	name := u.Path[1:]
	u.Path = "/postgres"
	admin, err := sqlx.Open("postgres", u.String())
	f.done(err)
	defer func() { _ = admin.Close() }()
	allow := func(value string) {
		if _, err := admin.Exec("ALTER DATABASE " + pq.QuoteIdentifier(name) + " ALLOW_CONNECTIONS " + value); err != nil {
			f.Error(err)
		}
	}
	allow("false")
	defer allow("true")
	do()
}

// listeners is the number of connections that listen.
const listeners = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'LISTEN%'"

// The listener's connection breaks, and a change happens before there is a new
// one: it is noticed on reconnecting, not at the next poll.
func TestNoticeAfterReconnecting(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(insertTask, "report", "yearly")
	_, seen := f.start(f.db.Periodic())
	f.exec("UPDATE periodic_task SET nextrun = now() AT TIME ZONE 'UTC'")
	seen.until(t, "job", submitted("report"))
	f.exec("UPDATE job SET state = 'success'")
	f.soon(1, listeners) // the job may be there before the listener is

	f.denied(func() {
		f.want(1, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'LISTEN%'")
		seen.until(t, "failure of the listener", func(e scheduler.Event) bool {
			return e.Kind == scheduler.EventError && e.Doing == "watch for changes"
		})
		f.exec("UPDATE periodic_task SET nextrun = now() AT TIME ZONE 'UTC'")
		f.want(1, "SELECT count(*) FROM job")
	})
	seen.until(t, "job after reconnecting", nth(2, submitted("report")))
}

// Behind a transaction pooler there is no LISTEN: by configuration nextrun does
// without, and notices at the next poll.
func TestNoticePollOnly(t *testing.T) {
	f := newPostgresFixture(t)
	_, seen := f.start(f.opened(store.Options{PollOnly: true}).Periodic(), func(c *scheduler.Config) { c.PollInterval = 50 * time.Millisecond })
	for i := range 3 {
		f.exec("DELETE FROM periodic_task")
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap, nextrun) VALUES ('report', 'backup', 'yearly', 'allow', now() AT TIME ZONE 'UTC')")
		seen.until(t, "job", nth(i+1, submitted("report")))
	}
	f.want(0, listeners)
}

// A scheduler that knows up to when nothing is left finds a task that was moved further back without a
// notification, as a restored or replicated row is, when it looks for all again.
func TestTaskMovedBackWithoutNotificationIsFound(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec(`INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('often', 'backup', 'every 1s', 'allow'), ('moved', 'backup', 'yearly', 'allow')`)
	_, seen := f.start(f.db.Periodic(), func(c *scheduler.Config) { c.PollInterval = 100 * time.Millisecond })
	of := func(id string) func(scheduler.Event) bool {
		return func(e scheduler.Event) bool { return e.Kind == scheduler.EventTick && e.Tick.TaskID == id }
	}
	seen.until(f, "two ticks, between which nothing was left", nth(2, of("often")))
	f.exec(`SET session_replication_role = replica;
		UPDATE periodic_task SET due = timestamp '2026-01-01', nextrun = timestamp '2026-01-01' WHERE id = 'moved';
		SET session_replication_role = origin`)
	seen.until(f, "tick of the task that was moved", of("moved"))
}
