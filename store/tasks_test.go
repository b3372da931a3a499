package store_test

import (
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
