package store_test

import (
	"context"
	"errors"
	"reflect"
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
		want.RetryLimit, want.RetryDelay, want.Timeout = new(int), time.Minute, time.Hour
		mustAdd(t, tasks, want)

		got := mustGet(t, tasks, "backup")
		if time.Since(got.Created).Abs() > time.Minute {
			t.Errorf("created %s, which is not now", got.Created)
		}
		if got.Deadline == nil || *got.Deadline != deadline {
			t.Errorf("deadline %v, want %s", got.Deadline, deadline)
		}
		if got.RetryLimit == nil || *got.RetryLimit != 0 {
			t.Errorf("retry_limit %v, want 0", got.RetryLimit)
		}
		got.Created, got.Deadline, want.Deadline = time.Time{}, nil, nil
		got.RetryLimit, want.RetryLimit = nil, nil
		got.Days.Calendars = nil // it may hold windows for all tasks
		want.NextRun = periodic.Unplanned
		if !reflect.DeepEqual(got, want) {
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
		"id":       func(t *periodic.Task) { t.ID = strings.Repeat("x", 255) },
		"handler":  func(t *periodic.Task) { t.Task = "" },
		"group":    func(t *periodic.Task) { t.Group = "\xff" },
		"subject":  func(t *periodic.Task) { t.Subject = "a\x00b" },
		"args":     func(t *periodic.Task) { t.Args = "{" },
		"timer":    func(t *periodic.Task) { t.Timer = "Mon 25:00" },
		"ends":     func(t *periodic.Task) { t.Starts, t.Ends = time.Unix(2, 0), time.Unix(1, 0) },
		"starts":   func(t *periodic.Task) { t.Starts = time.Unix(-1, 0) },
		"grace":    func(t *periodic.Task) { t.Grace = time.Millisecond },
		"jitter":   func(t *periodic.Task) { t.Jitter = -time.Second },
		"deadline": func(t *periodic.Task) { t.Deadline = &negative },
		"overlap":  func(t *periodic.Task) { t.Overlap = "maybe" },
		"catchup":  func(t *periodic.Task) { t.Catchup = "" },
		"sink":     func(t *periodic.Task) { t.Sink = "Drain 1" },
		"priority": func(t *periodic.Task) { t.Priority = 1 << 40 },

		"retry_limit": func(t *periodic.Task) { n := -1; t.RetryLimit = &n },
		"retry_delay": func(t *periodic.Task) { t.RetryDelay = time.Millisecond },
		"timeout":     func(t *periodic.Task) { t.Timeout = 366 * 24 * time.Hour },
		"submitter":   func(t *periodic.Task) { t.Submitter = "" },
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
		env.Exec(`INSERT INTO periodic_task (id, task, timer, args) VALUES ('a', 'echo', 'daily', 'not JSON')`)
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
		env.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('e', 'echo', 'never ever')`)
		env.schedule(t)
		for want, filter := range map[string]periodic.TaskFilter{
			"a b c d e": {}, "a b": {Limit: 2}, "c d": {After: "b", Limit: 2},
			"d": {Group: "other"}, "a b c e": {Task: "echo"}, "e": {State: periodic.TaskProblem}, "": {Task: "none"},
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
