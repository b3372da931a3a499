package scheduler_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/store"
)

// sessionEdits are what a user's session may do to a task whose tick a
// scheduler is about to submit: if it comes first, first jobs come of the
// tick, with those args; if it comes after, one, with the old args. An edit
// between read and write is one of TestPlanDoesNotOutliveAnEdit.
var sessionEdits = map[string]struct {
	edit, args string
	first      int
	after      string // holds for the task once both are through
}{
	"delete":  {"DELETE FROM periodic_task WHERE id = 'edited'", "", 0, "SELECT count(*) = 0 FROM periodic_task WHERE id = 'edited'"},
	"disable": {"UPDATE periodic_task SET enabled = false WHERE id = 'edited'", "", 0, "SELECT NOT enabled FROM periodic_task WHERE id = 'edited'"},
	"timer": {"UPDATE periodic_task SET timer = '2090-01-01' WHERE id = 'edited'", "", 0,
		"SELECT due = nextrun AND nextrun > '2089-12-31 00:00:00' FROM periodic_task WHERE id = 'edited'"},
	"args": {"UPDATE periodic_task SET args = '[2]' WHERE id = 'edited'", "[2]", 1,
		"SELECT args = '[2]' AND nextrun < '2089-12-31 00:00:00' FROM periodic_task WHERE id = 'edited'"},
}

// edited has a due task that is about to be edited, and another one.
func (f *fixture) edited() {
	f.Helper()
	f.exec("INSERT INTO periodic_task (id, task, timer, args) VALUES ('edited', 'backup', 'yearly', '[1]'), ('other', 'backup', 'yearly', '[1]')")
	f.due("edited", time.Second)
	f.due("other", time.Second)
}

// wantEdited checks what an edit has brought, and the job of the edited task.
func (f *fixture) wantEdited(after string, jobs int, args string) {
	f.Helper()
	f.once()
	f.want(1, "SELECT count(*) FROM job WHERE tracker = 'other'")
	f.want(jobs, "SELECT count(*) FROM job WHERE tracker = 'edited'")
	f.want(jobs, "SELECT count(*) FROM periodic_tick WHERE task_id = 'edited'")
	if jobs == 1 {
		f.want(args, "SELECT args FROM job WHERE tracker = 'edited'")
	}
	if got := f.one(after); got != "true" && got != "1" {
		f.Errorf("%s: %s", after, got)
	}
	f.guarantees()
}

// The submit transaction has the row: the edit waits for it and comes after.
func TestSessionsEditDuringSubmit(t *testing.T) {
	t.Parallel()
	for name, e := range sessionEdits {
		t.Run(name, func(t *testing.T) {
			both(t, func(f *fixture) {
				f.edited()
				user, edited := f.Connect(), make(chan error, 1)
				h := &hooked{Store: f.db.Periodic(), afterAdvance: func() error {
					go func() {
						_, err := user.Exec(e.edit)
						edited <- err
					}()
					storetest.Eventually(f, "the edit waits", func() bool {
						return f.Kind != "postgres" || f.one("SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) OR NOT granted AND locktype = 'transactionid'") != "0"
					})
					return nil
				}}
				f.onceOn(h)
				f.done(<-edited)
				f.wantEdited(e.after, 1, "[1]")
			})
		})
	}
}

// The edit is open, and not committed, when the scheduler comes by. It goes on without that row.
func TestSessionsEditOpen(t *testing.T) {
	t.Parallel()
	for name, e := range sessionEdits {
		t.Run(name, func(t *testing.T) {
			f := newPostgresFixture(t)
			f.edited()
			user := f.Connect()
			user.SetMaxOpenConns(1)
			begin := func() error { _, err := user.Exec("BEGIN; " + e.edit); return err }
			h := &hooked{Store: f.db.Periodic(), beforeUpdate: func(n int64) error {
				if n == nthTake {
					return begin()
				}
				return nil
			}}
			s, seen := f.start(h)
			seen.until(t, "job of the other task", submitted("other"))
			f.want(0, "SELECT count(*) FROM job WHERE tracker = 'edited'")
			if _, err := user.Exec("COMMIT"); err != nil {
				t.Error(err)
			}
			if e.first > 0 {
				seen.until(t, "job of the edited task", submitted("edited"))
			}
			f.stop(s)
			f.wantEdited(e.after, e.first, e.args)
		})
	}
}

// columnEdits holds, for each column that users own, another value than that of a new task.
var columnEdits = map[string]any{
	"id": "renamed", "handler": "other", "timer": "weekly", "summary": "a summary", "enabled": false, "group": "other", "args": "[7]",
	"subject": "a subject", "submitter": "somebody", "priority": 7, "starts": "2001-01-01 00:00:00", "ends": "2090-01-01 00:00:00",
	"overlap": "allow", "catchup": "none", "grace": 7, "deadline": 7, "jitter": 7, "sink": "event",
	"exclude_calendars": "c",
	"catchup_limit":     7, "pause_after": 7,
	"retry_limit": 7, "retry_delay": 7, "timeout": 7,
}

// What was read ahead is not written once somebody has changed the row since.
func TestPlanDoesNotOutliveAnEdit(t *testing.T) {
	edits := map[string]func(f *fixture){
		"nothing": func(*fixture) {},
		"deleted and inserted": func(f *fixture) {
			f.exec("CREATE TABLE copied AS SELECT * FROM periodic_task WHERE id = 'report'")
			f.exec("DELETE FROM periodic_task")
			f.exec("INSERT INTO periodic_task SELECT * FROM copied")
		},
		"there and back": func(f *fixture) {
			f.exec("UPDATE periodic_task SET priority = 7")
			f.exec("UPDATE periodic_task SET priority = 0")
		},
		"paused": func(f *fixture) { f.exec("UPDATE periodic_task SET paused = CURRENT_TIMESTAMP") },
		"skipped": func(f *fixture) {
			f.exec("INSERT INTO periodic_tick (task_id, due, decision) SELECT id, due, 'skipped' FROM periodic_task")
		},
		"run by SQL": func(f *fixture) { f.exec("UPDATE periodic_task SET nextrun = created") },
		"submit next": func(f *fixture) {
			tasks := periodic.NewTasks(f.db.Tasks())
			task, err := tasks.Get(f.Context(), "report")
			f.done(err)
			f.done(tasks.SubmitNext(f.Context(), "report", task.Due, "submitted by a test"))
		},
	}
	var copied []string // to the job
	for _, col := range column.OfUsers(periodic.Columns()) {
		value, known := columnEdits[col.Name]
		if !known {
			t.Errorf("the column %s has no edit in columnEdits", col.Name)
		}
		name := col.Row
		if name == "" {
			name = col.Name
		}
		edits[col.Name] = func(f *fixture) { f.exec("UPDATE periodic_task SET "+name+" = ?", value) }
		if col.Job {
			copied = append(copied, name)
		}
	}
	both(t, func(f *fixture) {
		var due time.Time
		ahead := atomic.Bool{}
		db, err := store.Open(f.Context(), f.URL, store.Options{Clock: func() time.Time {
			if ahead.Load() {
				return due
			}
			return due.Add(-time.Second)
		}})
		f.done(err)
		defer db.Close()
		c := batch.New("w@1", db.Periodic().Update, db.Periodic().Read, db.Periodic().Queues(nil))
		for name, edit := range edits {
			due = time.Now().UTC().Truncate(time.Second)
			ahead.Store(false)
			f.exec("DELETE FROM periodic_task")
			f.exec("DELETE FROM periodic_tick")
			f.exec("DELETE FROM job")
			f.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'backup', ?)", due.Format("*-01-02 15:04:05"))
			f.exec("UPDATE periodic_task SET due = ?, nextrun = ?", utc(due), utc(due))
			b, err := c.Read(f.Context(), batch.Wanted{Limit: 10, Ahead: time.Second})
			if err != nil || len(b.Plans) != 1 {
				f.Fatalf("%s: read %+v, %v", name, b, err)
			}
			edit(f)
			ahead.Store(true)
			done, err := c.Submit(f.Context(), storetest.Patience, b)
			same := name == "nothing" || f.Kind == storetest.SQLite && name == "deleted and inserted" // of a row that is the same
			if err != nil || (len(done.Ticks) == 1) != same {
				f.Errorf("%s: %d ticks are written as they were read, %v", name, len(done.Ticks), err)
			}
			for _, col := range copied {
				if len(done.Ticks) == 0 {
					break
				}
				f.want(1, "SELECT count(*) FROM job JOIN periodic_task AS t ON t.id = job.tracker AND coalesce(CAST(t."+col+" AS text), '') = coalesce(CAST(job."+col+" AS text), '')")
			}
		}
	})
}
