package store_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// declare applies tasks with these timers by their ids: "a=daily b=hourly".
func (e tasksEnv) declare(t *testing.T, a periodic.Apply, tasks string) periodic.Applied {
	t.Helper()
	for _, one := range strings.Fields(tasks) {
		id, timer, _ := strings.Cut(one, "=")
		a.Tasks = append(a.Tasks, periodic.NewTask(id, "echo", timer))
	}
	if a.Origin == "" {
		a.Origin = "app"
	}
	applied, err := e.tasks.Apply(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return applied
}

// has checks id=timer of all rows, with "-" before those that are disabled.
func (e tasksEnv) has(t *testing.T, what, want string) {
	t.Helper()
	got := strings.Join(e.texts(t, `SELECT CASE WHEN enabled THEN '' ELSE '-' END || id || '=' || timer FROM periodic_task ORDER BY id`), " ")
	if got != want {
		t.Errorf("%s: the table has %q, want %q", what, got, want)
	}
}

// An older version changes nothing, and hears so, until somebody goes back on purpose.
func TestAnOlderVersionChangesNothing(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		older, newer := periodic.Apply{Version: 1, Prune: periodic.PruneDelete}, periodic.Apply{Version: 20, Prune: periodic.PruneDelete}
		env.declare(t, older, "a=daily old=daily")
		env.declare(t, newer, "a=hourly new=daily")
		older.Origin, older.Tasks = "app", []periodic.Task{periodic.NewTask("a", "echo", "daily"), periodic.NewTask("old", "echo", "daily")}
		_, err := env.tasks.Apply(t.Context(), older)
		var told *periodic.OlderError
		if !errors.As(err, &told) || *told != (periodic.OlderError{Origin: "app", Version: 1, Newer: 20}) {
			t.Fatalf("the older one hears %v", err)
		}
		env.has(t, "after a restart of the older one", "a=hourly new=daily")
		older.DryRun = true
		if _, err := env.tasks.Apply(t.Context(), older); !errors.As(err, &told) {
			t.Errorf("the older one hears %v in a dry run", err)
		}
		older.DryRun = false
		if origins := env.texts(t, "SELECT DISTINCT origin FROM periodic_task"); len(origins) != 1 || origins[0] != "app@20" {
			t.Errorf("the rows have the origins %q", origins)
		}

		_, back, _ := strings.Cut(err.Error(), "run: ")
		env.Exec(back) // the remedy of the error
		older.Tasks = nil
		env.declare(t, older, "a=daily old=daily")
		env.has(t, "after going back", "a=daily old=daily")
		env.declare(t, newer, "a=hourly new=daily")
		env.has(t, "after the next deploy", "a=hourly new=daily")

		env.declare(t, newer, "")
		env.declare(t, older, "a=daily")
		env.has(t, "an origin without tasks has no version", "a=daily")
	})
}

// Without a version, two releases that restart in turn take turns. What one of them does not declare
// any more, and keeps, is the version's, too.
func TestTheLastProgramThatStartsWins(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.declare(t, periodic.Apply{}, "a=daily")
		env.declare(t, periodic.Apply{}, "a=hourly")
		env.declare(t, periodic.Apply{}, "a=daily")
		env.has(t, "after a restart of the first one", "a=daily")
		env.declare(t, periodic.Apply{Version: 3}, "b=daily")
		if origins := env.texts(t, "SELECT origin FROM periodic_task"); len(origins) != 2 || origins[0] != "app@3" || origins[1] != "app@3" {
			t.Errorf("the rows have the origins %q", origins)
		}
		env.declare(t, periodic.Apply{}, "a=weekly b=daily")
		env.has(t, "after one without a version", "a=weekly b=daily")
		for _, bad := range []periodic.Apply{{Origin: "app", Version: -1}, {Version: 1}, {Origin: "app@1"}, {Origin: strings.Repeat("x", 231)}} {
			if _, err := env.tasks.Apply(t.Context(), bad); err == nil {
				t.Errorf("%+v is accepted", bad)
			}
		}
	})
}

// What people have changed is set back. A pause stays, and so does a task that somebody has disabled.
func TestApplyAndEditsOfPeople(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.declare(t, periodic.Apply{}, "a=daily b=daily c=daily")
		env.Exec("UPDATE periodic_task SET timer = 'Mon', priority = 7 WHERE id = 'a'")
		env.Exec("UPDATE periodic_task SET enabled = false WHERE id = 'b'")
		if err := env.tasks.Pause(t.Context(), "c", periodic.Pause{By: "me"}); err != nil {
			t.Fatal(err)
		}
		applied := env.declare(t, periodic.Apply{}, "a=weekly b=hourly c=hourly")
		env.has(t, "declared again", "a=weekly -b=hourly c=hourly")
		if a := mustGet(t, env.tasks, "a"); a.Priority != 0 {
			t.Errorf("the priority is %d", a.Priority)
		}
		if !strings.HasSuffix(applied.String(), "; disabled by somebody, and left so: b") {
			t.Errorf("it says %q", applied)
		}
		if c := mustGet(t, env.tasks, "c"); c.Pause.By != "me" {
			t.Errorf("the pause is %+v", c.Pause)
		}

		env.declare(t, periodic.Apply{Prune: periodic.PruneDisable}, "c=hourly")
		env.has(t, "given up", "-a=weekly -b=hourly c=hourly")
		env.declare(t, periodic.Apply{}, "a=weekly c=hourly d=daily")
		env.has(t, "wanted again", "a=weekly -b=hourly c=hourly d=daily")
	})
}

// A program that names its queues learns at its start of a schedule that none of them would get, before anything is
// stored. One that does not name them is warned, since another program may have the queue.
func TestApplyKnowsTheQueuesOfTheProgram(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		river, err := queues.Open(env.db, queues.River{Queue: "default"})
		if err != nil {
			t.Fatal(err)
		}
		good, bad := periodic.NewTask("good", "report", "daily"), periodic.NewTask("bad", "report", "daily")
		good.Sink, bad.Sink = "river", "rivre"
		apply := periodic.Apply{Origin: "app", Tasks: []periodic.Task{good, bad, periodic.NewTask("own", "report", "daily")}}

		_, err = env.tasks.With(periodic.Submitters{"river": river}).Apply(t.Context(), apply)
		if sinkErr := (*periodic.SinkError)(nil); !errors.As(err, &sinkErr) ||
			err.Error() != `task "bad": sink "rivre": this program has no queue of that name, only ["event" "job" "river"]` {
			t.Errorf("the error is %v", err)
		}
		env.has(t, "after the error", "")

		applied, err := env.tasks.Apply(t.Context(), apply)
		if err != nil {
			t.Fatal(err)
		}
		if want := "only a scheduler that has their sink among its Submitters runs good, bad"; !strings.HasSuffix(applied.String(), want) {
			t.Errorf("it says %q", applied)
		}
	})
}

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// tasksEnv is a fresh database with its tasks, and a connection that knows
// nothing of nextrun.
type tasksEnv struct {
	*storetest.Database
	tasks *periodic.Tasks
	db    *store.DB
}

// tasksOn runs a test on a fresh database of each kind.
func tasksOn(t *testing.T, test func(t *testing.T, env tasksEnv)) {
	t.Helper()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		env := tasksEnv{Database: d.Database, tasks: periodic.NewTasks(d.Store.Tasks()), db: d.Store}
		test(t, env)
	})
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// texts runs a query of one column.
func (e tasksEnv) texts(t *testing.T, query string) (list []string) {
	t.Helper()
	if err := e.SQL.Select(&list, query); err != nil {
		t.Fatal(err)
	}
	return list
}

// schedule plans and submits what is due.
func (e tasksEnv) schedule(t *testing.T) {
	t.Helper()
	(&migrated.Database{Database: e.Database, Store: e.db}).Schedule()
}
