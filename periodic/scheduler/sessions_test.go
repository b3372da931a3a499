package scheduler_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
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
