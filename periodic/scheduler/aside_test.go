package scheduler_test

import (
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
