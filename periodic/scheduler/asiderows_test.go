package scheduler_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// A row that the table periodic_task took before nextrun was there may hold NULL
// where there is none now, and times that no schedule has.
func TestG5RowsOfOddValues(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec("ALTER TABLE periodic_task ALTER subject DROP NOT NULL, ALTER task DROP NOT NULL, ALTER priority DROP NOT NULL, ALTER timer DROP NOT NULL")
	f.healthy()
	f.bad("allow")
	f.exec("ALTER TABLE periodic_task DISABLE TRIGGER USER")
	for id, change := range map[string]string{
		"bad-1": "subject = NULL", "bad-2": "task = NULL", "bad-3": "priority = NULL", "bad-4": "timer = NULL",
		"bad-5": "due = '0044-03-15 BC', nextrun = '1970-01-02'", "bad-6": "due = '99999-01-01', nextrun = '1970-01-02'",
		"bad-7": "due = '-infinity', nextrun = '1970-01-02'", "bad-8": "due = 'infinity', nextrun = '1970-01-02'",
		"bad-9": "starts = '0044-03-15 BC'", "bad-10": "created = 'infinity', timer = 'every 1s'",
	} {
		f.exec("UPDATE periodic_task SET " + change + " WHERE id = '" + id + "'")
	}
	f.exec("ALTER TABLE periodic_task ENABLE TRIGGER USER")
	f.onTime(f.found(`SELECT count(*) FROM periodic_task WHERE CASE
		WHEN id IN ('bad-1', 'bad-2', 'bad-3') THEN problem LIKE '%null%'
		WHEN id IN ('bad-4', 'bad-10') THEN problem IS NOT NULL
		WHEN id LIKE 'bad%' THEN due > now() AT TIME ZONE 'UTC' - interval '10 s' END`))
}

// Rights are missing: nothing is booked, and the ticks are made up for, as catchup
// says. What is missed then says why.
func TestErrorsOfTheDatabaseCostNoTick(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES ('report', 'backup', '*:*:*', 'allow', 'all'), ('event', 'e', '*:*:*', 'allow', 'all')")
	f.exec("UPDATE periodic_task SET sink = 'event' WHERE id = 'event'")
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('newest', 'backup', '*:*:*', 'allow')")
	f.once()
	role := f.limitedRole()
	f.exec("REVOKE INSERT ON job FROM " + role)
	before := f.one("SELECT count(*) FROM periodic_tick WHERE task_id = 'report'")
	cfg := f.config("limited")
	seen := watch(&cfg)
	stop := f.run(f.as(role).Periodic(), func(c *scheduler.Config) { c.Observe = cfg.Observe })
	e := seen.until(t, "sign that the sink cannot be used", kindOf(scheduler.EventSink))
	if e.Err == nil || e.Sink != periodic.SinkJob || !strings.Contains(e.Err.Error(), "permission denied") {
		t.Errorf("sink %s: %v", e.Sink, e.Err)
	}
	seen.until(t, "third event", nth(3, func(e scheduler.Event) bool { return e.Kind == scheduler.EventTick && e.Tick.TaskID == "event" }))
	f.want(before, "SELECT count(*) FROM periodic_tick WHERE task_id = 'report'")
	f.exec("GRANT INSERT ON job TO " + role)
	seen.until(t, "job", submitted("report"))
	storetest.Eventually(f, "the newest tick is submitted", func() bool {
		return f.one("SELECT count(*) FROM periodic_tick WHERE task_id = 'newest' AND decision = 'submitted'") != "0"
	})
	stop()
	f.want(0, "SELECT count(*) FROM periodic_tick WHERE decision <> 'submitted' AND task_id <> 'newest'")
	f.want("newest", "SELECT cause FROM periodic_tick WHERE decision = 'missed' ORDER BY due LIMIT 1")
}

// limitedRole returns the name of a new role with all rights on the tables.
func (f *fixture) limitedRole() string {
	f.Helper()
	role := f.one("SELECT lower('limited_' || current_database())")
	f.exec("CREATE ROLE " + role)
	f.exec("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role)
	f.exec("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO " + role)
	f.Cleanup(func() {
		for _, statement := range []string{"DROP OWNED BY ", "DROP ROLE "} {
			if _, err := f.SQL.ExecContext(context.Background(), statement+role); err != nil {
				f.Error(err)
			}
		}
	})
	return role
}

// as opens the database as a role.
func (f *fixture) as(role string) *store.DB {
	f.Helper()
	u, err := url.Parse(f.URL)
	if err != nil {
		f.Fatal(err)
	}
	query := u.Query()
	query.Set("options", "-c role="+role)
	u.RawQuery = query.Encode()
	db, err := store.Open(f.Context(), u.String(), store.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	return db
}
