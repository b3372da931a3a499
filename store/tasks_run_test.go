package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func TestTasksRunNow(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		mustAdd(t, tasks, periodic.NewTask("on", "echo", "2099-01-01"))
		off := periodic.NewTask("off", "echo", "2099-01-01")
		off.Enabled, off.Args = false, `{"n": 1}`
		mustAdd(t, tasks, off)
		env.schedule(t)
		for _, id := range []string{"on", "off"} {
			if err := tasks.RunNow(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		env.schedule(t)
		for _, id := range []string{"on", "off"} {
			jobs := env.texts(t, `SELECT jid FROM job WHERE tracker = '`+id+`'`)
			if len(jobs) != 1 {
				t.Fatalf("%s: jobs %v, want one", id, jobs)
			}
			ticks, err := tasks.Ticks(t.Context(), periodic.TickFilter{TaskID: id})
			if err != nil || len(ticks) != 1 || ticks[0].JID != jobs[0] {
				t.Errorf("%s: ticks %+v (%v), want the one of job %s", id, ticks, err, jobs[0])
			}
		}
		if args := env.texts(t, `SELECT args FROM job WHERE tracker = 'off'`); args[0] != `{"n": 1}` {
			t.Errorf("the job's args are %s", args)
		}
		if got := mustGet(t, tasks, "on"); got.NextRun.Year() != 2099 {
			t.Errorf("after the run the timer goes on at %s, want 2099", got.NextRun)
		}
		if mustGet(t, tasks, "off").Enabled {
			t.Error("running a task has enabled it")
		}
		var pending *periodic.PendingError
		if err := tasks.RunNow(t.Context(), "off"); !errors.As(err, &pending) {
			t.Errorf("a second run beside a waiting job: %v, want a PendingError", err)
		}
	})
}

// The Tx variants act in the caller's transaction: nothing shows before its
// commit, and a refused task leaves it usable.
func TestTasksInTransactionsOfOthers(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		tx, err := env.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		a, b := periodic.NewTask("a", "echo", "daily"), periodic.NewTask("b", "echo", "daily")
		steps := []struct {
			name string
			do   func() error
			want error
		}{
			{"AddTx", func() error { return tasks.AddTx(t.Context(), tx, a) }, nil},
			{"AddTx again", func() error { return tasks.AddTx(t.Context(), tx, a) }, store.ErrDuplicate},
			{"AddTx", func() error { return tasks.AddTx(t.Context(), tx, b) }, nil},
			{"UpdateTx", func() error {
				return tasks.UpdateTx(t.Context(), tx, "a", func(task *periodic.Task) error { task.Subject = "x"; return nil })
			}, nil},
			{"DisableTx", func() error { return tasks.DisableTx(t.Context(), tx, "a") }, nil},
			{"EnableTx", func() error { return tasks.EnableTx(t.Context(), tx, "a") }, nil},
			{"RunNowTx", func() error { return tasks.RunNowTx(t.Context(), tx, "a") }, nil},
			{"DeleteTx", func() error { return tasks.DeleteTx(t.Context(), tx, "b") }, nil},
			{"DeleteTx again", func() error { return tasks.DeleteTx(t.Context(), tx, "b") }, store.ErrNotFound},
		}
		for _, step := range steps {
			if err := step.do(); !errors.Is(err, step.want) {
				t.Fatalf("%s: %v, want %v", step.name, err, step.want)
			}
		}
		inside, err := tasks.GetTx(t.Context(), tx, "a")
		if err != nil || inside.Subject != "x" || time.Since(inside.NextRun).Abs() > time.Minute {
			t.Errorf("inside: %+v (%v), want subject x and nextrun now", inside, err)
		}
		if list, err := tasks.ListTx(t.Context(), tx, periodic.TaskFilter{}); err != nil || len(list) != 1 {
			t.Errorf("inside: %v (%v), want one task", list, err)
		}
		if list, err := tasks.List(t.Context(), periodic.TaskFilter{}); err != nil || len(list) != 0 {
			t.Errorf("outside, before the commit: %v (%v), want none", list, err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if list, err := tasks.List(t.Context(), periodic.TaskFilter{}); err != nil || len(list) != 1 {
			t.Errorf("after the commit: %v (%v), want one task", list, err)
		}
	})
}
