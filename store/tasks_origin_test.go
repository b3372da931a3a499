package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
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

// Ten instances start at once, and one of them adds the tasks.
func TestApplyByManyInstancesAtOnce(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		var instances sync.WaitGroup
		added := make(chan int, 10)
		for range cap(added) {
			instances.Go(func() { added <- len(env.declare(t, periodic.Apply{Version: 1}, "a=daily b=hourly c=weekly").Changes) })
		}
		instances.Wait()
		close(added)
		sum := 0
		for n := range added {
			sum += n
		}
		if sum != 3 {
			t.Errorf("ten instances made %d changes, want 3", sum)
		}
		env.has(t, "afterwards", "a=daily b=hourly c=weekly")
		if origins := env.texts(t, "SELECT DISTINCT origin FROM periodic_task"); len(origins) != 1 || origins[0] != "app" {
			t.Errorf("the rows have the origins %q", origins)
		}
	})
}

func TestAnOlderInstanceUndoesNothing(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		older, newer := periodic.Apply{Version: 1, Prune: periodic.PruneDelete}, periodic.Apply{Version: 2, Prune: periodic.PruneDelete}
		env.declare(t, older, "a=daily old=daily")
		env.declare(t, newer, "a=hourly new=daily")
		again := env.declare(t, older, "a=daily old=daily")
		env.has(t, "after a restart of the older one", "a=hourly new=daily")
		if again.Newer == nil || again.Newer.Version != 2 || !strings.Contains(again.String(), "a newer program has declared others (version 2; these have 1); if these are to be back, raise Apply.Version, or run: nextrun task origins --forget-version app") {
			t.Errorf("the older one hears %q", again)
		}
		if err := periodic.NewTasks(env.db.Tasks()).Origins.ForgetVersion(t.Context(), "app"); err != nil { // the deploy is undone on purpose
			t.Fatal(err)
		}
		env.declare(t, older, "a=daily old=daily")
		env.has(t, "after going back", "a=daily old=daily")
		env.declare(t, newer, "a=hourly new=daily")
		env.has(t, "after the next deploy", "a=hourly new=daily")
		older.Force = true
		env.declare(t, older, "a=daily old=daily")
		env.has(t, "after somebody asked for the older tasks", "a=daily old=daily")
		if err := periodic.NewTasks(env.db.Tasks()).Origins.ForgetVersion(t.Context(), "nobody"); !errors.Is(err, periodic.ErrNotFound) {
			t.Errorf("an origin that is not there: %v", err)
		}
	})
}

// Programs without a version: tasks that others have replaced do not come back.
func TestAReplacedSetIsOlder(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.declare(t, periodic.Apply{}, "a=daily")
		env.declare(t, periodic.Apply{}, "a=hourly")
		again := env.declare(t, periodic.Apply{}, "a=daily")
		if again.Newer == nil {
			t.Error("a set that was replaced is applied again")
		}
		if text := again.String(); !strings.HasSuffix(text, "raise Apply.Version (0 now, as the program was built without version control), or run: nextrun task origins --forget-version app") {
			t.Errorf("the one whose set was replaced hears %q", text)
		}
		env.has(t, "after a restart of the older one", "a=hourly")
		if third := env.declare(t, periodic.Apply{}, "a=weekly"); third.Newer != nil {
			t.Errorf("a set that is new is refused: %s", third)
		}
		env.has(t, "after the third", "a=weekly")
	})
}

// What people have changed goes, unless the program keeps it. What pauses a task stays.
func TestApplyAndEditsOfPeople(t *testing.T) {
	t.Parallel()
	keep := periodic.Apply{KeepEdits: true}
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.declare(t, periodic.Apply{}, "a=daily b=daily c=daily")
		env.Exec("UPDATE periodic_task SET timer = 'Mon', priority = 7 WHERE id = 'a'")
		env.Exec("UPDATE periodic_task SET enabled = false WHERE id = 'b'")
		if _, err := env.tasks.Get(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		if err := env.tasks.Pause(t.Context(), "c", periodic.Pause{By: "me"}); err != nil {
			t.Fatal(err)
		}
		kept := env.declare(t, keep, "a=daily b=daily c=hourly")
		env.has(t, "kept", "a=Mon -b=daily c=hourly")
		if len(kept.Kept) != 2 || len(kept.Kept[0].Columns) != 2 || !strings.HasSuffix(kept.String(), "people changed a, b") {
			t.Errorf("kept %+v", kept)
		}
		env.declare(t, keep, "a=weekly b=daily c=hourly")
		env.has(t, "kept although the program has changed it, too", "a=Mon -b=daily c=hourly")
		env.declare(t, periodic.Apply{}, "a=weekly b=hourly c=hourly")
		env.has(t, "not kept", "a=weekly -b=hourly c=hourly")
		if c := mustGet(t, env.tasks, "c"); c.Pause.By != "me" {
			t.Errorf("the pause is %+v", c.Pause)
		}

		env.declare(t, periodic.Apply{Prune: periodic.PruneDisable}, "c=hourly")
		env.has(t, "given up", "-a=weekly -b=hourly c=hourly")
		env.declare(t, periodic.Apply{}, "a=weekly c=hourly d=daily")
		env.has(t, "wanted again", "a=weekly -b=hourly c=hourly d=daily")
	})
}

func TestApplyTouchesOnlyItsOrigin(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		mustAdd(t, env.tasks, periodic.NewTask("mine", "echo", "daily"))
		mustAdd(t, env.tasks, periodic.NewTask("by-hand", "echo", "daily"))
		env.declare(t, periodic.Apply{Origin: "other"}, "theirs=daily")
		dry := env.declare(t, periodic.Apply{DryRun: true, Prune: periodic.PruneDelete}, "mine=hourly")
		if len(dry.Changes) != 1 || len(env.texts(t, "SELECT name FROM periodic_origin")) != 1 {
			t.Errorf("a dry run gives %+v", dry)
		}
		env.declare(t, periodic.Apply{Prune: periodic.PruneDelete}, "mine=hourly two=daily")
		env.declare(t, periodic.Apply{Prune: periodic.PruneDelete}, "mine=hourly")
		env.has(t, "pruned", "by-hand=daily mine=hourly theirs=daily")

		var owned *periodic.OriginError
		theirs := periodic.Apply{Origin: "app", Tasks: []periodic.Task{periodic.NewTask("theirs", "echo", "hourly"), periodic.NewTask("new", "echo", "hourly")}}
		if _, err := env.tasks.Apply(t.Context(), theirs); !errors.As(err, &owned) || !strings.Contains(err.Error(), `task "theirs": "other" declares it`) {
			t.Errorf("a task of another origin: %v", err)
		}
		theirs.Origin = ""
		if _, err := env.tasks.Apply(t.Context(), theirs); !errors.As(err, &owned) {
			t.Errorf("a task of another origin, without one: %v", err)
		}
		env.has(t, "refused", "by-hand=daily mine=hourly theirs=daily")
		list, err := periodic.NewTasks(env.db.Tasks()).Origins.List(t.Context())
		if err != nil || len(list) != 2 || list[0].Name != "app" || time.Since(list[0].Since) > time.Hour {
			t.Errorf("the origins are %+v (%v)", list, err)
		}
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
