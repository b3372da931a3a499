package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// addRuns adds three tasks with ticks, jobs and an event of each kind of end.
func addRuns(env tasksEnv) {
	for _, statement := range []string{
		`INSERT INTO periodic_task (id, task, timer, sink) VALUES ('fails', 'x', 'yearly', 'job'), ('emits', 'x', 'yearly', 'event'),
			('feeds', 'y', 'yearly', 'river'), ('new', 'x', 'yearly', 'job')`,
		`INSERT INTO periodic_tick (task_id, due, decision, reason, jid, decided) VALUES
			('fails', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'j1', '2026-01-01 00:00:01.000000'),
			('fails', '2026-01-02 00:00:00.000000', 'submitted', NULL, 'j2', '2026-01-02 00:00:01.000000'),
			('fails', '2026-01-03 00:00:00.000000', 'skipped', 'the job runs', NULL, '2026-01-03 00:00:01.000000'),
			('emits', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'e1', '2026-01-01 00:00:01.000000'),
			('feeds', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'r1', '2026-01-01 00:00:01.000000'),
			('gone', '2026-01-01 00:00:00.000000', 'submitted', NULL, 'g1', '2026-01-01 00:00:01.000000')`,
		`INSERT INTO job (jid, task, tracker, state, started, finished, result, retries) VALUES
			('j1', 'x', 'fails', 'success', NULL, NULL, NULL, 0),
			('j2', 'x', 'fails', 'failed', '2026-01-02 00:00:02.000000', '2026-01-02 00:00:03.000000', 'no', 2)`,
		`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e1', 'd', 'x', 'emits', 1)`,
		`INSERT INTO outbox_message (event_id, topic, attempts, problem) VALUES ('e1', 'd', 3, 'status 500')`,
	} {
		env.Exec(statement)
	}
}

// The last tick of a task need not be the last one that ran, and both tell.
func TestTasksOutcomes(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		addRuns(env)
		all, err := env.tasks.Outcomes(t.Context(), periodic.TaskFilter{})
		if err != nil || len(all) != 3 {
			t.Fatalf("%d outcomes (%v), want 3: %+v", len(all), err, all)
		}
		fails := all["fails"]
		if fails.Last.Decision != periodic.Skipped || fails.Last.Reason != "the job runs" {
			t.Errorf("the last tick is %+v", fails.Last)
		}
		if fails.Run == nil || fails.Run.JID != "j2" || fails.Run.Due.Day() != 2 {
			t.Errorf("the last run is %+v", fails.Run)
		}
		r := fails.Result
		if r.Sink != periodic.SinkJob || r.State != "failed" || r.Message != "no" || r.Retries != 2 || r.Finished.Sub(r.Started).Seconds() != 1 {
			t.Errorf("the result is %+v", r)
		}
		if r := all["emits"].Result; r.Sink != periodic.SinkEvent || r.State != "pending" || r.Message != "status 500" || r.Retries != 3 {
			t.Errorf("the result of the event is %+v", r)
		}
		if o := all["feeds"]; o.Run == nil || o.Result != (periodic.Result{}) {
			t.Errorf("the outcome of a queue of others is %+v", o)
		}
		for _, c := range []struct {
			filter periodic.TaskFilter
			want   int
		}{{periodic.TaskFilter{ID: "emits"}, 1}, {periodic.TaskFilter{Task: "y"}, 1}, {periodic.TaskFilter{After: "emits", Limit: 1}, 1}, {periodic.TaskFilter{ID: "new"}, 0}} {
			if some, err := env.tasks.Outcomes(t.Context(), c.filter); err != nil || len(some) != c.want {
				t.Errorf("%+v finds %+v (%v)", c.filter, some, err)
			}
		}
	})
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

// Each tick leads to its job or its event.
func TestTasksResults(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		addRuns(env)
		ticks, err := env.tasks.Ticks(t.Context(), periodic.TickFilter{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := env.tasks.Results(t.Context(), ticks)
		if err != nil || len(got) != 3 {
			t.Fatalf("%d results (%v): %+v", len(got), err, got)
		}
		for jid, want := range map[string]string{"j1": "success", "j2": "failed", "e1": "pending", "g1": ""} {
			if got[jid].State != want {
				t.Errorf("%s is %q, want %q", jid, got[jid].State, want)
			}
		}
		if none, err := env.tasks.Results(t.Context(), nil); err != nil || len(none) != 0 {
			t.Errorf("without ticks: %v, %v", none, err)
		}
	})
}
