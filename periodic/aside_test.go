package periodic_test

import (
	"context"
	"database/sql"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/storetest"
	"github.com/nextrun/nextrun/store/storetest/migrated"
)

// G5 under way: ten tasks that cannot be scheduled, for whatever reason, beside
// 100 that are due every second.

const (
	healthyTasks  = 100
	badTasks      = 10
	besideSeconds = 5
)

// healthy adds the tasks that nothing may disturb.
func (f *fixture) healthy() {
	f.Helper()
	f.exec(`INSERT INTO periodic_task (id, task, timer, overlap)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT 'healthy-' || i, 'backup', '*:*:*', 'allow' FROM n`, healthyTasks)
}

// bad adds tasks with an overlap policy that are due every second, too.
func (f *fixture) bad(overlap string) {
	f.Helper()
	f.exec(`INSERT INTO periodic_task (id, task, timer, overlap)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT 'bad-' || i, 'backup', '*:*:*', '`+overlap+`' FROM n`, badTasks)
}

// lateness collects how late the ticks of the healthy tasks were, and which tasks
// were set aside.
type lateness struct {
	mu    sync.Mutex
	late  []time.Duration
	aside map[string]error
	done  chan struct{}
}

func (l *lateness) observe(e periodic.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case e.Kind == periodic.EventAside:
		l.aside[e.ID] = e.Err
	case e.Kind == periodic.EventTick && strings.HasPrefix(e.Tick.TaskID, "healthy") && e.Tick.Decision == periodic.Submitted:
		if l.late = append(l.late, time.Since(e.Tick.Due)); len(l.late) == besideSeconds*healthyTasks {
			close(l.done)
		}
	}
}

// onTime runs a scheduler until the healthy tasks have had their ticks, and fails
// if they were late.
func (f *fixture) onTime() *lateness {
	f.Helper()
	l := &lateness{aside: map[string]error{}, done: make(chan struct{})}
	stop := f.run(f.db.Periodic(), func(c *periodic.Config) { c.Observe = l.observe })
	select {
	case <-l.done:
	case <-time.After(time.Minute):
		f.Error("the healthy tasks have not had their ticks within a minute")
	}
	begun := time.Now()
	stop()
	if took := time.Since(begun); took > 3*time.Second {
		f.Errorf("the scheduler took %s to stop", took)
	}
	slices.Sort(l.late)
	if len(l.late) > 0 {
		f.Logf("lateness: median %s, maximum %s", l.late[len(l.late)/2], l.late[len(l.late)-1])
		if median := l.late[len(l.late)/2]; median > storetest.MaxLateness {
			f.Errorf("the median lateness of the healthy tasks is %s", median)
		}
	}
	f.fewMissed()
	f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
	return l
}

// fewMissed fails if many healthy ticks were not submitted. Without isolation it
// is half of them. A busy machine may miss some; `make soak-isolation` allows none.
func (f *fixture) fewMissed() {
	f.Helper()
	missed, err := strconv.Atoi(f.one("SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'healthy%' AND decision <> 'submitted'"))
	if err != nil || missed > healthyTasks*besideSeconds/5 {
		f.Errorf("%d ticks of healthy tasks were not submitted (%v)", missed, err)
	}
}

// named fails unless all bad tasks were set aside, with an error that says why.
func (l *lateness) named(f *fixture, why string) {
	f.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.aside) != badTasks {
		f.Errorf("%d tasks were set aside", len(l.aside))
	}
	for id, err := range l.aside {
		if !strings.HasPrefix(id, "bad-") || !strings.Contains(err.Error(), why) {
			f.Errorf("%s was set aside: %v", id, err)
		}
	}
}

// open opens a transaction of a user's and runs a statement in it.
func (f *fixture) open(statement string) *sql.Tx {
	f.Helper()
	tx, err := f.Connect().Begin()
	if err != nil {
		f.Fatal(err)
	}
	if _, err := tx.Exec(statement); err != nil {
		f.Fatal(err)
	}
	return tx
}

// refuse makes the database refuse what a condition on NEW holds for.
func (f *fixture) refuse(table, event, condition, code string) {
	f.Helper()
	f.exec(map[string]string{
		"postgres": `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				RAISE EXCEPTION 'hands off' USING ERRCODE = '` + code + `'; END $$;
			CREATE TRIGGER refuse BEFORE ` + event + ` ON ` + table + ` FOR EACH ROW WHEN (` + condition + `) EXECUTE FUNCTION refuse()`,
		"sqlite": `CREATE TRIGGER refuse BEFORE ` + event + ` ON ` + table + ` WHEN ` + condition + `
			BEGIN SELECT RAISE(ABORT, 'hands off'); END`,
	}[f.Kind])
}

func (f *fixture) unrefuse(table string) {
	f.Helper()
	f.exec(map[string]string{"postgres": "DROP TRIGGER refuse ON " + table, "sqlite": "DROP TRIGGER refuse"}[f.Kind])
}

// A trigger of the user's protects rows: they cannot even be marked.
func TestG5RowsThatCannotBeMarked(t *testing.T) {
	both(t, func(f *fixture) {
		f.healthy()
		f.bad("allow")
		f.refuse("periodic_task", "UPDATE", "OLD.id LIKE 'bad%'", "P0001")
		f.onTime().named(f, "hands off")
		f.want(0, "SELECT count(*) FROM job WHERE tracker LIKE 'bad%'")
		f.unrefuse("periodic_task")
		f.once()
		f.want(badTasks, "SELECT count(*) FROM periodic_task WHERE id LIKE 'bad%' AND nextrun > '2020-01-01 00:00:00'")
	})
}

// The same with an error code that nobody knows.
func TestG5RowsThatFailForAnUnknownReason(t *testing.T) {
	t.Parallel()
	f := newPostgresFixture(t)
	f.healthy()
	f.bad("allow")
	f.refuse("periodic_task", "UPDATE", "OLD.id LIKE 'bad%'", "UE001")
	f.onTime().named(f, "hands off")
}

// The database refuses their jobs: the ticks say so, unless nobody knows whether
// the row is to blame.
func TestG5JobsThatAreRefused(t *testing.T) {
	both(t, func(f *fixture) {
		f.healthy()
		f.bad("allow")
		f.refuse("job", "INSERT", "NEW.tracker LIKE 'bad%'", "P0001")
		f.onTime()
		f.want(0, "SELECT count(*) FROM job WHERE tracker LIKE 'bad%'")
		f.want(badTasks, "SELECT count(DISTINCT task_id) FROM periodic_tick WHERE task_id LIKE 'bad%' AND decision = 'skipped' AND reason LIKE '%hands off%'")
		f.want(badTasks, "SELECT count(*) FROM periodic_task WHERE problem LIKE '%hands off%'")
	})
}

func TestG5JobsThatFailForAnUnknownReason(t *testing.T) {
	t.Parallel()
	f := newPostgresFixture(t)
	f.healthy()
	f.bad("allow")
	f.refuse("job", "INSERT", "NEW.tracker LIKE 'bad%'", "UE001")
	f.onTime().named(f, "hands off")
	f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'bad%'")
	f.unrefuse("job")
	f.once()
	f.want(badTasks, "SELECT count(*) FROM job WHERE tracker LIKE 'bad%'")
}

// An application has inserted jobs of these tasks, and does not commit.
func TestG5UncommittedJobs(t *testing.T) {
	t.Parallel()
	f := newPostgresFixture(t)
	f.healthy()
	f.bad("skip")
	open := f.open(`INSERT INTO job (jid, task, tracker, single) SELECT id, 'backup', id, true FROM periodic_task WHERE id LIKE 'bad%'`)
	f.onTime().named(f, "lock timeout")
	if err := open.Rollback(); err != nil {
		t.Fatal(err)
	}
	f.once()
	f.want(badTasks, "SELECT count(*) FROM job WHERE tracker LIKE 'bad%'")
}

// A consumer works on jobs that are to be replaced in the transaction in which it
// has claimed them.
func TestG5JobsClaimedInALongTransaction(t *testing.T) {
	t.Parallel()
	f := newPostgresFixture(t)
	f.healthy()
	f.bad("replace")
	f.exec(`INSERT INTO job (jid, task, tracker, single) SELECT 'j' || id, 'backup', id, true FROM periodic_task WHERE id LIKE 'bad%'`)
	open := f.open(`UPDATE job SET state = 'running', worker = 'w' WHERE tracker LIKE 'bad%'`)
	if l := f.onTime(); len(l.aside) > 0 {
		t.Errorf("set aside: %v", l.aside)
	}
	f.want(badTasks, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'bad%' AND decision = 'queued'")
	if err := open.Rollback(); err != nil {
		t.Fatal(err)
	}
	f.once()
	f.want(badTasks, "SELECT count(*) FROM job WHERE state = 'cancelled'")
	f.want(badTasks, "SELECT count(*) FROM job WHERE tracker LIKE 'bad%' AND state = 'waiting'")
}

// An edit brings a task back at once that was set aside.
func TestTaskSetAsideComesBackWithAnEdit(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "bad", "yearly")
		f.due("bad", time.Second)
		f.refuse("periodic_task", "UPDATE", "NEW.subject <> 'good'", "P0001")
		cfg := f.config("aside")
		seen := watch(&cfg)
		f.start(cfg)
		seen.until(f, "sign that it is set aside", kindOf(periodic.EventAside))
		time.Sleep(4 * time.Second) //nolint:forbidigo // the delays grow in real time
		begun := time.Now()
		f.exec("UPDATE periodic_task SET subject = 'good'")
		seen.until(f, "job", submitted("bad"))
		if took := time.Since(begun); took > time.Second {
			f.Errorf("an edit took %s to bring the task back", took)
		}
	})
}

// Somebody has locked the table job: new tasks are planned all the same, events
// are written, and the scheduler stops at once. CREATE INDEX takes the one lock,
// ALTER TABLE the other.
func TestG5LockedTable(t *testing.T) {
	for _, mode := range []string{"SHARE", "ACCESS EXCLUSIVE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			f := newPostgresFixture(t)
			f.exec(`INSERT INTO periodic_task (id, task, timer, overlap)
				SELECT 'waits-' || n, 'backup', '*:*:*', 'queue' FROM generate_series(1, 300) AS n`)
			f.once()
			open := f.open("LOCK TABLE job IN " + mode + " MODE")
			f.healthy()
			f.exec("UPDATE periodic_task SET sink = 'event' WHERE id LIKE 'healthy%'")
			f.exec(insertTask, "new", "yearly")
			f.onTime()
			f.want(0, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
			if err := open.Rollback(); err != nil {
				t.Fatal(err)
			}
			f.once()
			f.want(300, "SELECT count(DISTINCT tracker) FROM job WHERE tracker LIKE 'waits%'")
		})
	}
}

// A row that the table periodic_task took before nextrun was there may hold NULL
// where there is none now, and times that no schedule has.
func TestG5RowsOfOddValues(t *testing.T) {
	t.Parallel()
	f := newPostgresFixture(t)
	f.exec("ALTER TABLE periodic_task ALTER subject DROP NOT NULL, ALTER task DROP NOT NULL, ALTER priority DROP NOT NULL, ALTER timer DROP NOT NULL")
	f.healthy()
	f.bad("allow")
	f.exec("ALTER TABLE periodic_task DISABLE TRIGGER USER")
	f.exec("ALTER TABLE periodic_task DROP CONSTRAINT nextrun_due") // it does not look at rows that were there
	for id, change := range map[string]string{
		"bad-1": "subject = NULL", "bad-2": "task = NULL", "bad-3": "priority = NULL", "bad-4": "timer = NULL",
		"bad-5": "due = '0044-03-15 BC', nextrun = '1970-01-02'", "bad-6": "due = '99999-01-01', nextrun = '1970-01-02'",
		"bad-7": "due = '-infinity', nextrun = '1970-01-02'", "bad-8": "due = 'infinity', nextrun = '1970-01-02'",
		"bad-9": "starts = '0044-03-15 BC'", "bad-10": "created = 'infinity', timer = 'every 1s'",
	} {
		f.exec("UPDATE periodic_task SET " + change + " WHERE id = '" + id + "'")
	}
	f.exec("ALTER TABLE periodic_task ENABLE TRIGGER USER")
	f.onTime()
	f.want(3, "SELECT count(*) FROM periodic_task WHERE id IN ('bad-1', 'bad-2', 'bad-3') AND problem LIKE '%null%'")
	f.want(2, "SELECT count(*) FROM periodic_task WHERE id IN ('bad-4', 'bad-10') AND problem IS NOT NULL")
	f.want(5, "SELECT count(*) FROM periodic_task WHERE id IN ('bad-5', 'bad-6', 'bad-7', 'bad-8', 'bad-9') AND due > ?", f.at(-10*time.Second))
}

// In a database without an encoding an id need not be text.
func TestG5RowsThatAreNoText(t *testing.T) {
	t.Parallel()
	f := newFixture(migrated.Up(storetest.At(t, asciiURL(t))))
	f.healthy()
	f.bad("allow")
	f.exec("UPDATE periodic_task SET subject = convert_from('\\xe9', 'SQL_ASCII') WHERE id IN ('bad-1', 'bad-2', 'bad-3')")
	f.exec("UPDATE periodic_task SET id = id || convert_from('\\xe9', 'SQL_ASCII') WHERE id NOT IN ('bad-1', 'bad-2', 'bad-3') AND id LIKE 'bad%'")
	f.onTime().named(f, "invalid byte sequence")
	f.want(10, "SELECT count(*) FROM periodic_task WHERE problem LIKE '%invalid byte sequence%'")
}

// Rights are missing: nothing is booked, and the ticks are made up for.
func TestErrorsOfTheDatabaseCostNoTick(t *testing.T) {
	t.Parallel()
	f := newPostgresFixture(t)
	f.exec("INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES ('report', 'backup', '*:*:*', 'allow', 'all'), ('event', 'e', '*:*:*', 'allow', 'all')")
	f.exec("UPDATE periodic_task SET sink = 'event' WHERE id = 'event'")
	f.once()
	role := f.limitedRole()
	f.exec("REVOKE INSERT ON job FROM " + role)
	cfg := f.config("limited")
	seen := watch(&cfg)
	stop := f.run(f.as(role).Periodic(), func(c *periodic.Config) { c.Observe = cfg.Observe })
	e := seen.until(t, "sign that the sink cannot be used", kindOf(periodic.EventSink))
	if e.Err == nil || e.Sink != periodic.SinkJob || !strings.Contains(e.Err.Error(), "permission denied") {
		t.Errorf("sink %s: %v", e.Sink, e.Err)
	}
	seen.until(t, "third event", nth(3, func(e periodic.Event) bool { return e.Kind == periodic.EventTick && e.Tick.TaskID == "event" }))
	f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'report'")
	f.exec("GRANT INSERT ON job TO " + role)
	seen.until(t, "job", submitted("report"))
	stop()
	f.want(0, "SELECT count(*) FROM periodic_tick WHERE decision <> 'submitted'")
}

// asciiURL returns the URL of a PostgreSQL database of the encoding SQL_ASCII.
func asciiURL(t *testing.T) string {
	t.Helper()
	admin := storetest.New(t, storetest.Postgres)
	u, err := url.Parse(admin.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = strings.ToLower(u.Path) + "_ascii"
	name := strings.TrimPrefix(u.Path, "/")
	admin.Exec("CREATE DATABASE " + name + " ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() {
		if _, err := admin.SQL.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return u.String()
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
