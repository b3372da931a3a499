package store_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

// The row that comes with the schema deletes what is older than its args say,
// and nothing that is young, not final, or waits.
func TestHousekeeping(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		old := time.Now().UTC().Add(-31 * 24 * time.Hour).Format("2006-01-02 15:04:05.000000")
		young := time.Now().UTC().Add(-29 * 24 * time.Hour).Format("2006-01-02 15:04:05.000000")
		for _, tick := range [][3]string{
			{"old", old, "submitted"}, {"young", young, "submitted"},
		} {
			env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided)
				VALUES ('` + tick[0] + `', '` + tick[1] + `', '` + tick[2] + `', '` + tick[1] + `')`)
		}
		for _, job := range [][3]string{
			{"old", "success", "'" + old + "'"}, {"young", "failed", "'" + young + "'"}, {"old-waiting", "waiting", "NULL"},
		} {
			env.Exec(`INSERT INTO job (jid, task, submitted, state, finished)
				VALUES ('` + job[0] + `', 'echo', '` + old + `', '` + job[1] + `', ` + job[2] + `)`)
		}
		for id, submitted := range map[string]string{"gone-old": old, "gone-young": young} {
			env.Exec(`INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted, look)
				VALUES ('` + id + `', 'river', '1', 'j', '` + submitted + `', '` + submitted + `', '` + submitted + `')`)
		}
		older := time.Now().UTC().Add(-32 * 24 * time.Hour).Format("2006-01-02 15:04:05.000000")
		for id, due := range map[string]string{"older": older, "ahead": young} { // only a tick that is planned may be past
			env.Exec(`INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('` + id + `', 'x', 'hourly', false)`)
			env.Exec(`UPDATE periodic_task SET due = '` + due + `' WHERE id = '` + id + `'`)
			env.Exec(`INSERT INTO periodic_tick (task_id, due, decision) VALUES ('` + id + `', '` + due + `', 'skipped'), ('` + id + `', '2099-01-01 00:00:00', 'skipped')`)
		}
		result := env.runJob(t, store.HousekeepingTask, `{"ticks_days": 30, "jobs_days": 30}`)
		if want := "deleted ticks: 2, jobs: 1, events: 0"; result != want {
			t.Errorf("the result is %q, want %q", result, want)
		}
		if got := env.texts(t, `SELECT task_id FROM periodic_tick ORDER BY task_id`); !slices.Equal(got, []string{"ahead", "ahead", "older", "young"}) {
			t.Errorf("ticks left: %v", got)
		}
		if got := env.texts(t, `SELECT task_id FROM periodic_open`); !slices.Equal(got, []string{"gone-young"}) {
			t.Errorf("open jobs of tasks that are gone left: %v", got)
		}
		if got := env.texts(t, `SELECT jid FROM job WHERE task = 'echo' ORDER BY jid`); !slices.Equal(got, []string{"old-waiting", "young"}) {
			t.Errorf("jobs left: %v", got)
		}
		if result := env.runJob(t, store.HousekeepingTask, `{}`); result != "deleted ticks: 0, jobs: 0, events: 0" {
			t.Errorf("without days: %q", result)
		}
		if result := env.runJob(t, store.HousekeepingTask, `{"jobs_days": -1}`); result != "jobs_days is -1; use 1 to 36500, or 0 to keep them for ever" {
			t.Errorf("with negative days: %q", result)
		}
	})
}

// runJob submits a job, has an executor run it, and returns its result.
func (e tasksEnv) runJob(t *testing.T, task, args string) string {
	t.Helper()
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	ended := make(chan executor.Event, 10)
	executor, err := executor.New(e.db.Jobs(), executor.Config{Name: "test", Logger: logger, Observe: func(event executor.Event) {
		if event.Kind == executor.EventEnded {
			ended <- event
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	executor.Register(task, e.db.Housekeeping())
	queue := jobqueue.NewQueue(e.db.Jobs())
	jids, err := queue.Submit(t.Context(), jobqueue.Job{Task: task, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	if err := executor.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(storetest.Patience):
		t.Fatal("the job has not ended")
	}
	if err := executor.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	job, err := queue.Get(t.Context(), jids[0])
	if err != nil {
		t.Fatal(err)
	}
	return job.Result
}

// Many old ticks among young ones go in pages, each of a transaction of its own.
func TestHousekeepingOfManyTicks(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		old := time.Now().UTC().Add(-31 * 24 * time.Hour).Format("2006-01-02 15:04:05.000000")
		young := time.Now().UTC().Format("2006-01-02 15:04:05.000000")
		env.Exec(strings.NewReplacer("{time}", map[bool]string{true: "text", false: "timestamp"}[strings.HasPrefix(env.db.URL(), "sqlite")]).Replace(`
			INSERT INTO periodic_tick (task_id, due, decision, decided)
			WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 3500)
			SELECT 'task-' || n, CAST('` + old + `' AS {time}), 'submitted', CAST(CASE WHEN n % 7 = 0 THEN '` + young + `' ELSE '` + old + `' END AS {time}) FROM s`))
		result := env.runJob(t, store.HousekeepingTask, `{"ticks_days": 30}`)
		if want := "deleted ticks: 3000, jobs: 0, events: 0"; result != want {
			t.Errorf("the result is %q, want %q", result, want)
		}
		if got := env.texts(t, `SELECT count(*) FROM periodic_tick`); got[0] != "500" {
			t.Errorf("%s ticks left, want the 500 young ones", got[0])
		}
	})
}

// What may not be deleted keeps nothing else: a role may lack rights on a newer table.
func TestHousekeepingWithoutATable(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('old', '2020-01-01 00:00:00.000000', 'submitted', '2020-01-01 00:00:00.000000')`)
		env.Exec(`ALTER TABLE periodic_open RENAME TO hidden`)
		if n, err := env.db.PruneTicks(t.Context(), time.Hour); n != 1 || err == nil || !strings.Contains(err.Error(), "periodic_open") {
			t.Errorf("%d ticks deleted, %v", n, err)
		}
	})
}
