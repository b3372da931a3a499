package scheduler_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// The database refuses their jobs: the rows say so.
func TestG5JobsThatAreRefused(t *testing.T) {
	both(t, func(f *fixture) {
		f.healthy()
		f.bad("allow")
		f.Refuse("job", "INSERT", "NEW.tracker LIKE 'bad%'", "P0001")
		f.onTime(f.found("SELECT count(*) FROM periodic_task WHERE problem LIKE '%hands off%'"))
		f.want(0, "SELECT count(*) FROM job WHERE tracker LIKE 'bad%'")
	})
}

// An application has inserted jobs of these tasks, and does not commit.
func TestG5UncommittedJobs(t *testing.T) {
	f := newPostgresFixture(t)
	f.healthy()
	f.bad("skip")
	open := f.Hold(`INSERT INTO job (jid, task, tracker, single) SELECT id, 'backup', id, true FROM periodic_task WHERE id LIKE 'bad%'`)
	f.onTime(f.named("lock timeout"))
	f.done(open.Rollback())
	f.once()
	f.want(badTasks, "SELECT count(*) FROM job WHERE tracker LIKE 'bad%'")
}

// An edit brings a task back at once that was set aside, also one deep in long args,
// which keeps their length.
func TestTaskSetAsideComesBackWithAnEdit(t *testing.T) {
	t.Parallel()
	args := func(last string) string { return `"` + strings.Repeat("x", 5000) + last + `"` }
	for name, edit := range map[string]edit{
		"subject":   {"subject", "", "NEW.subject <> 'good'", "good"},
		"long args": {"args", args("a"), `NEW.args LIKE '%a"'`, args("b")},
	} {
		t.Run("postgres, "+name, func(t *testing.T) { newPostgresFixture(t).comesBack(edit) })
		t.Run("sqlite, "+name, func(t *testing.T) { bubble(t, func(f *fixture) { f.comesBack(edit) }) })
	}
}

// edit changes a column from a value with which the row is refused.
type edit struct{ column, value, refused, edited string }

func (f *fixture) comesBack(by edit) {
	f.Refuse("periodic_task", "UPDATE", by.refused, "P0001")
	_, seen := f.start(f.db.Periodic())
	round := 0
	storetest.Punctual(f, "the edited task", func() []time.Duration {
		round++
		id := "bad-" + strconv.Itoa(round)
		f.exec("INSERT INTO periodic_task (id, task, timer, nextrun, "+by.column+") VALUES (?, 'backup', 'yearly', ?, ?)", id, f.at(-time.Second), by.value)
		seen.until(f, "sign that it is set aside", func(e scheduler.Event) bool { return e.Kind == scheduler.EventAside && e.ID == id })
		elapse(3500 * time.Millisecond) // the delays grow: by itself it is tried after 3.5 s
		begun := time.Now()
		f.exec("UPDATE periodic_task SET "+by.column+" = ? WHERE id = ?", by.edited, id)
		seen.until(f, "job", submitted(id))
		return []time.Duration{time.Since(begun)}
	})
}

// Somebody has locked the table job: new tasks are planned all the same, events
// are written, and the scheduler stops at once. CREATE INDEX takes the one lock,
// ALTER TABLE the other.
func TestG5LockedTable(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"SHARE", "ACCESS EXCLUSIVE"} {
		t.Run(mode, func(t *testing.T) {
			f := newPostgresFixture(t)
			f.exec(`INSERT INTO periodic_task (id, task, timer, overlap)
				SELECT 'waits-' || n, 'backup', '*:*:*', 'queue' FROM generate_series(1, 300) AS n`)
			// A scheduler that plans them might submit jobs, too; then none would need the table.
			at := f.at(2 * time.Second)[:len("2006-01-02 15:04:05")] // with healthy tasks in the batch
			f.exec("UPDATE periodic_task SET due = ?, nextrun = ?", at, at)
			open := f.Hold("LOCK TABLE job IN " + mode + " MODE")
			f.healthy()
			f.exec("UPDATE periodic_task SET sink = 'event' WHERE id LIKE 'healthy%'")
			f.exec(insertTask, "new", "yearly")
			l := f.onTime(func(l *lateness) {
				storetest.Eventually(f, "the sink is set aside", l.sinkAside)
			})
			if !slices.Equal(l.sinks, []periodic.Sink{periodic.SinkJob}) {
				t.Errorf("the sinks %q were set aside, want job", l.sinks)
			}
			f.want(0, "SELECT count(*) FROM periodic_task WHERE due IS NULL")
			f.done(open.Rollback())
			f.once()
			f.want(300, "SELECT count(DISTINCT tracker) FROM job WHERE tracker LIKE 'waits%'")
		})
	}
}

// A trigger suppresses the job or the tick of one task of a batch without an error: that task gets no job, and says why where
// its tick can be written; the others get theirs.
func TestG1SuppressedRows(t *testing.T) {
	t.Parallel()
	for table, c := range map[string]struct{ condition, ticks string }{
		"job":           {"NEW.tracker = 'bad'", "SELECT count(*) FROM periodic_tick WHERE task_id = 'bad' AND decision = 'skipped' AND jid IS NULL"},
		"periodic_tick": {"NEW.task_id = 'bad'", "SELECT 1 - count(*) FROM periodic_tick WHERE task_id = 'bad'"},
	} {
		t.Run(table, func(t *testing.T) {
			both(t, func(f *fixture) {
				ids := []string{"a", "b", "bad", "c"}
				for _, id := range ids {
					f.exec(insertTask, id, "yearly")
				}
				f.once()
				for _, id := range ids {
					f.due(id, 0)
				}
				f.Trigger(table, "INSERT", c.condition, "RETURN NULL", "SELECT RAISE(IGNORE)")
				f.once()
				f.want(3, "SELECT count(*) FROM job WHERE tracker IN ('a', 'b', 'c')")
				f.want(3, "SELECT count(*) FROM periodic_tick WHERE decision = 'submitted' AND task_id <> 'bad'")
				f.want(0, "SELECT count(*) FROM job WHERE tracker = 'bad'")
				f.want(1, c.ticks)
				f.want(0, "SELECT count(*) FROM periodic_task WHERE id IN ('a', 'b', 'bad', 'c') AND nextrun <= ?", f.at(0))
			})
		})
	}
}

// raisedCodes are those that stand for the whole database, unless a trigger
// raises them, such as one that asks a remote server which is down; and one that
// nobody knows.
var raisedCodes = []string{"40001", "40P01", "53200", "53100", "57P01", "08001", "58030", "25006", "UE001"}

// The others are scheduled, the task is named, and its tick stays due.
func TestG5RowsForWhichATriggerRaisesACodeOfTheDatabase(t *testing.T) {
	t.Parallel()
	for what, refused := range map[string]struct{ table, event, condition string }{
		"job":  {"job", "INSERT", "NEW.tracker = 'bad'"},
		"task": {"periodic_task", "UPDATE", "OLD.id = 'bad'"},
	} {
		for _, code := range raisedCodes {
			t.Run(what+" "+code, func(t *testing.T) {
				f := newPostgresFixture(t)
				for _, id := range []string{"a", "b", "bad", "c", "d"} {
					f.exec(insertTask, id, "yearly")
					f.exec("UPDATE periodic_task SET nextrun = ? WHERE id = ?", f.at(-time.Second), id)
				}
				allow := f.Refuse(refused.table, refused.event, refused.condition, code)
				_, seen := f.start(f.db.Periodic())
				if e := seen.until(t, "sign that it is set aside", kindOf(scheduler.EventAside)); e.ID != "bad" {
					t.Errorf("%s is set aside: %v", e.ID, e.Err)
				}
				for _, id := range []string{"a", "b", "c", "d"} {
					seen.until(t, "job", submitted(id))
				}
				f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id = 'bad'")
				allow()
				seen.until(t, "job", submitted("bad"))
			})
		}
	}
}

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

// A table that refuses every row loses no tick, also where tasks of another sink succeed
// meanwhile: once the table takes rows again, all that was due is submitted.
func TestTableThatRefusesAllJobsSkipsNothing(t *testing.T) {
	both(t, func(f *fixture) {
		for i := range 20 {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES (?, 'backup', '*:*:*', 'allow')", fmt.Sprintf("one-%d", i))
		}
		for i := range 3 {
			f.exec("INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES (?, 'backup', '*:*:*', 'allow', 'all')", fmt.Sprintf("all-%d", i))
		}
		f.exec("INSERT INTO periodic_task (id, task, timer, sink) VALUES ('event', 'told', '*:*:*', 'event')")
		_, seen := f.start(f.db.Periodic())
		seen.until(f, "first job", submitted("all-0"))
		allow := f.Refuse("job", "INSERT", "true", "P0001")
		refused := time.Now()
		dueAfter := func(id string, at time.Time) func(scheduler.Event) bool {
			return func(e scheduler.Event) bool { return submitted(id)(e) && e.Tick.Due.After(at) }
		}
		seen.until(f, "event meanwhile", dueAfter("event", refused.Add(6*time.Second)))
		allow()
		mended := time.Now()
		for _, id := range []string{"one-0", "all-0", "all-1", "all-2"} {
			seen.until(f, "job afterwards", dueAfter(id, mended))
		}
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE decision = 'skipped'")
		f.want(0, "SELECT count(*) FROM periodic_tick WHERE task_id LIKE 'all-%' AND decision <> 'submitted'")
	})
}
