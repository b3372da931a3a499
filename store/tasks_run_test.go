package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
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

// In a transaction of the caller, a tick whose job the queue refuses, since another one came first, is an error: it is recorded
// there with a job that does not exist, unless the caller rolls that back.
func TestSubmitNextInATransactionWhoseJobIsRefused(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		if err := env.tasks.Add(t.Context(), periodic.NewTask("a", "echo", "daily")); err != nil {
			t.Fatal(err)
		}
		tx, err := env.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		inside, pending := env.tasks.In(tx).Traced(rivals{t, tx}), new(periodic.PendingError)
		if err := inside.SubmitNext(t.Context(), "a", time.Now().Add(-time.Minute), "after another one"); !errors.As(err, &pending) {
			t.Errorf("%v, want the error that names the other job", err)
		}
	})
}

// rivals submit another job of the same task before each job.
type rivals struct {
	t  *testing.T
	tx *sql.Tx
}

func (r rivals) Send(ctx context.Context, _ string, jobs []jobqueue.Job) (string, func(error)) {
	_, err := r.tx.ExecContext(ctx, "INSERT INTO job (jid, task, tracker, single) VALUES ('rival', 'echo', '"+jobs[0].Tracker+"', true)")
	return "", func(refused error) {
		if refused == nil || err != nil {
			r.t.Errorf("the job was not refused (%v)", err)
		}
	}
}

// The newest ticks of a time are the first of all of it, however many are asked for.
func TestNewestTicksOfATime(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, hour := range []float64{1, 9, 20, 22, 22.5, 23.1, 23.5} {
			due := sqldb.Timestamp(day.Add(time.Duration(hour * float64(time.Hour))))
			env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('t', ?, 'skipped', ?)`, due, due)
		}
		last := sqldb.Timestamp(day.Add(23*time.Hour + 40*time.Minute)) // of those that were missed since 21:00
		env.Exec(`INSERT INTO periodic_tick (task_id, due, until, decision, decided, missed) VALUES ('u', ?, ?, 'missed', ?, 3)`, sqldb.Timestamp(day.Add(21*time.Hour)), last, last)
		filter := periodic.TickFilter{DueFrom: day, DueTo: day.Add(24 * time.Hour)}
		all, err := env.tasks.Ticks(t.Context(), filter)
		if err != nil || len(all) != 8 {
			t.Fatalf("%d ticks: %v", len(all), err)
		}
		for filter.Limit = 1; filter.Limit < 10; filter.Limit++ {
			some, err := env.tasks.Ticks(t.Context(), filter)
			if want := all[:min(filter.Limit, 8)]; err != nil || !slices.Equal(some, want) {
				t.Errorf("the newest %d are %+v (%v), want %+v", filter.Limit, some, err, want)
			}
		}
	})
}

// day is a day of the past.
var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func (e tasksEnv) backfill(t *testing.T, id string, from, to time.Time) (submitted, had int) {
	t.Helper()
	err := e.tasks.Backfill(t.Context(), id, periodic.Backfill{From: from, To: to, Report: func(_ time.Time, jid string) {
		if jid == "" {
			had++
			return
		}
		submitted++
		// The job has ended at once, so that the next one can be submitted.
		e.Exec(`UPDATE job SET state = 'success' WHERE jid = '` + jid + `'`)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return submitted, had
}

func TestBackfill(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		mustAdd(t, env.tasks, periodic.NewTask("a", "echo", "*-*-* *:00"))
		tick := func(hour int, columns, values string) {
			due := day.Add(time.Duration(hour) * time.Hour).Format("2006-01-02 15:04:05.000000")
			env.Exec(fmt.Sprintf(`INSERT INTO periodic_tick (task_id, due, decided, %s) VALUES ('a', '%s', '%s', %s)`,
				columns, due, due, values))
		}
		tick(1, "decision, jid", "'submitted', 'x'")
		tick(2, "decision", "'skipped'")
		tick(3, "decision", "'late'")
		tick(4, "decision, missed, until", "'missed', 4, '2026-03-01 07:00:00.000000'")

		// 00:00 has no tick, 02:00 was skipped, 04:00 and 05:00 were missed.
		submitted, had := env.backfill(t, "a", day, day.Add(6*time.Hour))
		if submitted != 5 || had != 1 {
			t.Errorf("submitted %d, had %d; want 5 and 1", submitted, had)
		}
		got := env.texts(t, `SELECT substr(CAST(due AS text), 12, 5) || ' ' || decision || ' ' || CAST(missed AS text)
			FROM periodic_tick WHERE task_id = 'a' ORDER BY due`)
		want := []string{
			"00:00 submitted 0", "01:00 submitted 0", "02:00 submitted 0", "03:00 submitted 0", "04:00 submitted 0",
			"05:00 submitted 0", "06:00 missed 2",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the ticks are\n%q, want\n%q", got, want)
		}
		if n := env.texts(t, `SELECT jid FROM job WHERE due IS NOT NULL AND tracker = 'a' AND single`); len(n) != 5 {
			t.Errorf("%d single jobs with a due, want 5", len(n))
		}
		// One of several that were missed together, then those before it and after it.
		tick(20, "decision, missed, until", "'missed', 4, '2026-03-01 23:00:00.000000'")
		hour := func(from, to int) {
			env.backfill(t, "a", day.Add(time.Duration(from)*time.Hour), day.Add(time.Duration(to)*time.Hour))
		}
		hour(21, 22)
		hour(20, 21)
		got = env.texts(t, `SELECT substr(CAST(due AS text), 12, 5) || ' ' || decision || ' ' || CAST(missed AS text)
			FROM periodic_tick WHERE task_id = 'a' AND due >= '2026-03-01 20:00:00.000000' ORDER BY due`)
		if want := []string{"20:00 submitted 0", "21:00 submitted 0", "22:00 missed 2"}; !slices.Equal(got, want) {
			t.Errorf("the ticks are\n%q, want\n%q", got, want)
		}
		if submitted, had := env.backfill(t, "a", day, day.Add(6*time.Hour)); submitted != 0 || had != 6 {
			t.Errorf("done again: submitted %d, had %d; want 0 and 6", submitted, had)
		}
	})
}

// A tick that is to come is its scheduler's: none gets its job before its time.
func TestBackfillSubmitsNothingAhead(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		mustAdd(t, env.tasks, periodic.NewTask("a", "echo", "*-*-* *:00"))
		next := time.Now().Truncate(time.Hour).Add(time.Hour)
		err := env.tasks.Backfill(t.Context(), "a", periodic.Backfill{From: next, To: next.Add(24 * time.Hour)})
		if err == nil || !strings.Contains(err.Error(), "is to come") {
			t.Errorf("the error is %v", err)
		}
		env.Want("0", "SELECT count(*) FROM job")
		env.Want("0", "SELECT count(*) FROM periodic_tick")
	})
}
