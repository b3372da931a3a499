package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func mustAdd(t *testing.T, tasks *periodic.Tasks, task periodic.Task) {
	t.Helper()
	if err := tasks.Add(t.Context(), task); err != nil {
		t.Fatal(err)
	}
}

func mustGet(t *testing.T, tasks *periodic.Tasks, id string) periodic.Task {
	t.Helper()
	task, err := tasks.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func TestTasksKeepWhatIsAdded(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		deadline := 90 * time.Second
		want := periodic.NewTask("backup", "dump", "*-*-* 02:00 Europe/Berlin")
		want.Group, want.Args, want.Subject, want.Summary = "night", `{"a": "ä'\""}`, "Backup", "for people"
		want.Priority, want.Jitter, want.Grace, want.Deadline = 10, 5*time.Second, 0, &deadline
		want.Starts = time.Date(2026, 1, 1, 0, 0, 0, 123000, time.UTC)
		want.Ends = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		want.Overlap, want.Catchup, want.Enabled = periodic.OverlapQueue, periodic.CatchupAll, false
		mustAdd(t, tasks, want)

		got := mustGet(t, tasks, "backup")
		if time.Since(got.Created).Abs() > time.Minute {
			t.Errorf("created %s, which is not now", got.Created)
		}
		if got.Deadline == nil || *got.Deadline != deadline {
			t.Errorf("deadline %v, want %s", got.Deadline, deadline)
		}
		got.Created, got.Deadline, want.Deadline = time.Time{}, nil, nil
		want.NextRun = periodic.Unplanned
		if got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if err := tasks.Add(t.Context(), want); !errors.Is(err, store.ErrDuplicate) {
			t.Errorf("the same id again: %v, want ErrDuplicate", err)
		}
	})
}

func TestTasksRefuseWhatIsNotGood(t *testing.T) {
	t.Parallel()
	negative := -time.Second
	bad := map[string]func(*periodic.Task){
		"id":        func(t *periodic.Task) { t.ID = strings.Repeat("x", 255) },
		"task":      func(t *periodic.Task) { t.Task = "" },
		"group":     func(t *periodic.Task) { t.Group = "\xff" },
		"subject":   func(t *periodic.Task) { t.Subject = "a\x00b" },
		"args":      func(t *periodic.Task) { t.Args = "{" },
		"timer":     func(t *periodic.Task) { t.Timer = "Mon 25:00" },
		"ends":      func(t *periodic.Task) { t.Starts, t.Ends = time.Unix(2, 0), time.Unix(1, 0) },
		"starts":    func(t *periodic.Task) { t.Starts = time.Unix(-1, 0) },
		"grace":     func(t *periodic.Task) { t.Grace = time.Millisecond },
		"jitter":    func(t *periodic.Task) { t.Jitter = -time.Second },
		"deadline":  func(t *periodic.Task) { t.Deadline = &negative },
		"overlap":   func(t *periodic.Task) { t.Overlap = "maybe" },
		"catchup":   func(t *periodic.Task) { t.Catchup = "" },
		"sink":      func(t *periodic.Task) { t.Sink = "drain" },
		"priority":  func(t *periodic.Task) { t.Priority = 1 << 40 },
		"submitter": func(t *periodic.Task) { t.Submitter = "" },
	}
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		mustAdd(t, tasks, periodic.NewTask("good", "echo", "daily"))
		for field, spoil := range bad {
			task := periodic.NewTask("bad", "echo", "daily")
			spoil(&task)
			wantField(t, field, tasks.Add(t.Context(), task))
			if field == "id" {
				continue // an update never changes it
			}
			wantField(t, field, tasks.Update(t.Context(), "good", func(t *periodic.Task) error {
				spoil(t)
				return nil
			}))
		}
		list, err := tasks.List(t.Context(), periodic.TaskFilter{})
		if err != nil || len(list) != 1 || list[0].Timer != "daily" {
			t.Errorf("after that the table holds %+v (%v), want the good task alone", list, err)
		}
	})
}

// wantField checks that err names a field and nothing else.
func wantField(t *testing.T, field string, err error) {
	t.Helper()
	var taskErr *periodic.TaskError
	if !errors.As(err, &taskErr) || len(taskErr.Fields) != 1 || taskErr.Fields[0].Field != field {
		t.Errorf("got %v, want an error of %s alone", err, field)
	}
	var parseErr *calendar.ParseError
	if field == "timer" && !errors.As(err, &parseErr) {
		t.Errorf("%v does not hold the *calendar.ParseError", err)
	}
}

func TestTasksUpdate(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		mustAdd(t, tasks, periodic.NewTask("a", "echo", "daily"))
		env.schedule(t)
		planned := mustGet(t, tasks, "a")
		edit := func(fn func(*periodic.Task)) {
			t.Helper()
			err := tasks.Update(t.Context(), "a", func(task *periodic.Task) error { fn(task); return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		edit(func(task *periodic.Task) { task.Subject = "new"; task.NextRun = time.Unix(5, 0) })
		if got := mustGet(t, tasks, "a"); got.Subject != "new" || !got.NextRun.Equal(planned.NextRun) {
			t.Errorf("after a new subject: subject %q, nextrun %s; want the plan kept, %s", got.Subject, got.NextRun, planned.NextRun)
		}
		edit(func(task *periodic.Task) { task.Timer = "hourly" })
		if got := mustGet(t, tasks, "a"); !got.NextRun.Equal(periodic.Unplanned) || !got.Due.IsZero() {
			t.Errorf("after a new timer: nextrun %s, due %s; want it planned anew", got.NextRun, got.Due)
		}
		cancelled := errors.New("no")
		if err := tasks.Update(t.Context(), "a", func(*periodic.Task) error { return cancelled }); !errors.Is(err, cancelled) {
			t.Errorf("an edit that fails: %v, want its error", err)
		}
		nothing := func(*periodic.Task) error { return nil }
		if err := tasks.Update(t.Context(), "none", nothing); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a task that does not exist: %v, want ErrNotFound", err)
		}
	})
}

// A row written by SQL may hold args that are not JSON; that does not keep
// anybody from changing the rest of it.
func TestTasksUpdateLeavesForeignArgsAlone(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		env.exec(t, `INSERT INTO periodic_task (id, task, timer, args) VALUES ('a', 'echo', 'daily', 'not JSON')`)
		err := tasks.Update(t.Context(), "a", func(task *periodic.Task) error { task.Priority = 10; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if got := mustGet(t, tasks, "a"); got.Priority != 10 || got.Args != "not JSON" {
			t.Errorf("got priority %d, args %q", got.Priority, got.Args)
		}
	})
}

func TestTasksEnableDisableDelete(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		mustAdd(t, tasks, periodic.NewTask("a", "echo", "daily"))
		env.schedule(t)
		if err := tasks.Disable(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if mustGet(t, tasks, "a").Enabled {
			t.Error("enabled after Disable")
		}
		if err := tasks.Enable(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got := mustGet(t, tasks, "a"); !got.Enabled || !got.NextRun.Equal(periodic.Unplanned) {
			t.Errorf("after Enable: enabled %v, nextrun %s; want it planned anew", got.Enabled, got.NextRun)
		}
		if err := tasks.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		for verb, do := range map[string]func(context.Context, string) error{
			"Enable": tasks.Enable, "Disable": tasks.Disable, "Delete": tasks.Delete, "RunNow": tasks.RunNow,
			"Get": func(ctx context.Context, id string) error { _, err := tasks.Get(ctx, id); return err },
		} {
			if err := do(t.Context(), "a"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s of a deleted task: %v, want ErrNotFound", verb, err)
			}
		}
	})
}

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

func TestTasksList(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		for _, id := range []string{"c", "a", "d", "b"} {
			task := periodic.NewTask(id, "echo", "daily")
			if id == "d" {
				task.Group, task.Task = "other", "else"
			}
			mustAdd(t, tasks, task)
		}
		env.exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('e', 'echo', 'never ever')`)
		env.schedule(t)
		for want, filter := range map[string]periodic.TaskFilter{
			"a b c d e": {}, "a b": {Limit: 2}, "c d": {After: "b", Limit: 2},
			"d": {Group: "other"}, "a b c e": {Task: "echo"}, "e": {Problem: true}, "": {Task: "none"},
		} {
			list, err := tasks.List(t.Context(), filter)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, task := range list {
				ids = append(ids, task.ID)
			}
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("%+v lists %q, want %q", filter, got, want)
			}
		}
	})
}

// The Tx variants act in the caller's transaction: nothing shows before its
// commit, and a refused task leaves it usable.
func TestTasksInTransactionsOfOthers(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		tasks := env.tasks
		tx, err := env.sql.BeginTx(t.Context(), nil)
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
