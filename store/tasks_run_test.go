package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// In acts in the caller's transaction: nothing shows before its commit, and a
// refused task leaves it usable.
func TestTasksInTransactionsOfOthers(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		tx, err := env.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		inside := tasks.In(tx)
		a, b := periodic.NewTask("a", "echo", "daily"), periodic.NewTask("b", "echo", "daily")
		steps := []struct {
			name string
			do   func() error
			want error
		}{
			{"Add", func() error { return inside.Add(t.Context(), a) }, nil},
			{"Add again", func() error { return inside.Add(t.Context(), a) }, store.ErrDuplicate},
			{"Add", func() error { return inside.Add(t.Context(), b) }, nil},
			{"Update", func() error {
				return inside.Update(t.Context(), "a", func(task *periodic.Task) error { task.Subject = "x"; return nil })
			}, nil},
			{"Disable", func() error { return inside.Disable(t.Context(), "a") }, nil},
			{"Enable", func() error { return inside.Enable(t.Context(), "a") }, nil},
			{"RunNow", func() error { return inside.RunNow(t.Context(), "a") }, nil},
			{"Delete", func() error { return inside.Delete(t.Context(), "b") }, nil},
			{"Delete again", func() error { return inside.Delete(t.Context(), "b") }, store.ErrNotFound},
		}
		for _, step := range steps {
			if err := step.do(); !errors.Is(err, step.want) {
				t.Fatalf("%s: %v, want %v", step.name, err, step.want)
			}
		}
		got, err := inside.Get(t.Context(), "a")
		if err != nil || got.Subject != "x" {
			t.Errorf("inside: %+v (%v), want subject x", got, err)
		}
		if list, err := inside.List(t.Context(), periodic.TaskFilter{}); err != nil || len(list) != 1 {
			t.Errorf("inside: %v (%v), want one task", list, err)
		}
		if dry, err := inside.Apply(t.Context(), periodic.Apply{Tasks: []periodic.Task{got, b}, DryRun: true}); err != nil || len(dry.Changes) != 1 {
			t.Errorf("inside: a dry run of Apply gives %v (%v), want b added", dry, err)
		}
		past := periodic.Backfill{From: time.Unix(0, 0), To: time.Now()}
		if err := inside.Backfill(t.Context(), "a", past); err == nil || !strings.Contains(err.Error(), "use Tasks without In") {
			t.Errorf("inside: Backfill gives %v, want it refused", err)
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
