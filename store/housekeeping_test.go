package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

const oneDay = 24 * time.Hour

// ago is a time as the tables have it.
func ago(d time.Duration) string {
	return time.Now().UTC().Add(-d).Format("2006-01-02 15:04:05.000000")
}

// prune deletes what is older than keep says, and returns how many rows.
func (e tasksEnv) prune(t *testing.T, keep scheduler.Retention) scheduler.Pruned {
	t.Helper()
	n, err := e.db.Periodic().Prune(t.Context(), keep)
	if err != nil {
		t.Error(err)
	}
	return n
}

// What is older than the setting is deleted, and nothing that is young, not final, or waits. Of each
// task the newest tick stays that was decided, and of each aggregate the newest event.
func TestPrune(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		old, young := ago(31*oneDay), ago(29*oneDay)
		env.Exec(`INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('kept', 'x', 'hourly', false), ('ahead', 'x', 'hourly', false)`)
		for _, tick := range [][2]string{{"gone", old}, {"kept", ago(33 * oneDay)}, {"kept", ago(32 * oneDay)}, {"young", young}} {
			env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES (?, ?, 'submitted', ?)`, tick[0], tick[1], tick[1])
		}
		env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('made-up', ?, 'submitted', ?)`, old, young)
		env.Exec(`UPDATE periodic_task SET due = ? WHERE id = 'ahead'`, old) // only a tick that is planned may be past
		env.Exec(`INSERT INTO periodic_tick (task_id, due, decision) VALUES ('ahead', ?, 'skipped'), ('ahead', '2099-01-01 00:00:00', 'skipped')`, old)
		for _, job := range [][3]any{{"old", "success", old}, {"young", "failed", young}, {"waiting", "waiting", nil}} {
			env.Exec(`INSERT INTO job (jid, task, submitted, state, finished) VALUES (?, 'echo', ?, ?, ?)`, job[0], old, job[1], job[2])
		}
		env.Exec(`INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'old', 'info', ?, 'm')`, old)
		for id, submitted := range map[string]string{"gone-old": old, "gone-young": young} {
			env.Exec(`INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted, look) VALUES (?, 'river', '1', 'j', ?, ?, ?)`, id, submitted, submitted, submitted)
		}
		for version := range 3 {
			env.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, created) VALUES (?, 't', 'x', 'order', ?, ?)`, "e"+string(rune('1'+version)), version+1, old)
		}
		env.Exec(`INSERT INTO outbox_message (event_id, topic, created) VALUES ('e2', 't', ?)`, old) // not published yet

		if n := env.prune(t, scheduler.Retention{Ticks: scheduler.Forever, Jobs: scheduler.Forever, Events: scheduler.Forever}); n != (scheduler.Pruned{}) {
			t.Errorf("%+v were to be kept for ever", n)
		}
		if n, want := env.prune(t, scheduler.Retention{Ticks: 30 * oneDay, Jobs: 30 * oneDay, Events: 30 * oneDay}), (scheduler.Pruned{Ticks: 3, Jobs: 1, Events: 1}); n != want {
			t.Errorf("%+v were deleted, want %+v", n, want)
		}
		for query, want := range map[string]string{
			"SELECT task_id FROM periodic_tick ORDER BY task_id": "ahead kept made-up young",
			"SELECT task_id FROM periodic_open":                  "gone-young",
			"SELECT jid FROM job ORDER BY jid":                   "waiting young",
			"SELECT jid FROM joblog":                             "",
			"SELECT id FROM event_store ORDER BY id":             "e2 e3",
		} {
			if got := strings.Join(env.texts(t, query), " "); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
	})
}

// The jobs of a table that was there before nextrun came are somebody else's to delete.
func TestPruneLeavesTheJobsOfOthers(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.Exec(`INSERT INTO nextrun_found (name) VALUES ('job')`)
		env.Exec(`INSERT INTO job (jid, task, state, finished) VALUES ('old', 'x', 'success', '2020-01-01 00:00:00.000000')`)
		env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('old', '2020-01-01 00:00:00.000000', 'submitted', '2020-01-01 00:00:00.000000')`)
		if n := env.prune(t, scheduler.Retention{Ticks: time.Hour, Jobs: time.Hour}); n != (scheduler.Pruned{Ticks: 1}) {
			t.Errorf("%+v were deleted", n)
		}
	})
}

// Many old ticks among young ones go in pages, each of a transaction of its own.
func TestPruneManyTicks(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		old, young := ago(31*oneDay), ago(0)
		env.Exec(strings.NewReplacer("{time}", map[bool]string{true: "text", false: "timestamp"}[strings.HasPrefix(env.db.URL(), "sqlite")]).Replace(`
			INSERT INTO periodic_tick (task_id, due, decision, decided)
			WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 3500)
			SELECT 'task-' || n, CAST('` + old + `' AS {time}), 'submitted', CAST(CASE WHEN n % 7 = 0 THEN '` + young + `' ELSE '` + old + `' END AS {time}) FROM s`))
		if n := env.prune(t, scheduler.Retention{Ticks: 30 * oneDay}); n.Ticks != 3000 {
			t.Errorf("%d ticks were deleted, want 3000", n.Ticks)
		}
		env.Want("500", "SELECT count(*) FROM periodic_tick")
	})
}

// Rows that cannot be deleted stay, and are counted and named with the remedy. All
// others go: of the same kind, and of the other kinds.
func TestPruneLeavesWhatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		old := ago(31 * oneDay)
		for _, name := range []string{"bad", "good1", "good2", "good3"} {
			env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES (?, ?, 'submitted', ?)`, name, old, old)
			env.Exec(`INSERT INTO job (jid, task, submitted, state, finished) VALUES (?, 'echo', ?, 'success', ?)`, name, old, old)
			env.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload, created) VALUES (?, 't', 't', ?, 1, '{}', ?)`, name, name, old)
			env.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload) VALUES (?, 't', 't', ?, 2, '{}')`, name+"-new", name)
		}
		env.Exec("CREATE TABLE invoice (jid varchar(254) NOT NULL REFERENCES job (jid))")
		env.Exec("INSERT INTO invoice VALUES ('bad')")
		for table, column := range map[string]string{"periodic_tick": "task_id", "event_store": "id"} {
			env.Refuse(table, "DELETE", "OLD."+column+" = 'bad'", "P0001")
		}
		n, err := env.db.Periodic().Prune(t.Context(), scheduler.Retention{Ticks: 30 * oneDay, Jobs: 30 * oneDay, Events: 30 * oneDay})
		if n != (scheduler.Pruned{Ticks: 3, Jobs: 3, Events: 3}) || err == nil {
			t.Fatalf("%+v were deleted, %v", n, err)
		}
		for _, part := range []string{
			"ticks that cannot be deleted: 1 (bad of ", "hands off", "jobs that cannot be deleted: 1 (job bad)", "ON DELETE CASCADE",
			"rows of event_store that cannot be deleted: 1 (seq ",
		} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error is %q, want %q in it", err, part)
			}
		}
		for _, query := range []string{"SELECT task_id FROM periodic_tick", "SELECT jid FROM job", "SELECT id FROM event_store WHERE aggregate_version = 1"} {
			if got := env.texts(t, query); !slices.Equal(got, []string{"bad"}) {
				t.Errorf("%s: %v, want bad", query, got)
			}
		}
	})
}

// Rows that stay, however many follow one another, do not keep those behind them.
func TestPruneGoesPastManyRowsThatStay(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.Exec(`INSERT INTO job (jid, task, submitted, state, finished)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
			SELECT 'j' || i, 'echo', '2020-01-01 00:00:00.000000', 'success', '2020-01-01 00:00:00.000000' FROM n`)
		env.Exec(`CREATE TABLE invoice (jid varchar(254) NOT NULL REFERENCES job (jid))`)
		env.Exec(`INSERT INTO invoice SELECT jid FROM job WHERE jid < 'j9'`)
		n, err := env.db.Periodic().Prune(t.Context(), scheduler.Retention{Jobs: oneDay})
		const want = "jobs that cannot be deleted: 89 (job j1, job j10, job j100, job j11, job j12, ...)"
		if n.Jobs != 11 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v were deleted, %v, want %q in it", n, err, want)
		}
		env.Want("89", "SELECT count(*) FROM job")
	})
}

// Where a statement takes longer than the database allows, fewer rows at a time are deleted, until all are gone.
func TestPruneGoesOnAfterATimeout(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		if env.Kind == storetest.SQLite {
			return // it has no such timeout
		}
		env.Exec(`INSERT INTO job (jid, task, submitted, state, finished)
			SELECT 'j' || i, 'echo', '2020-01-01', 'success', '2020-01-01' FROM generate_series(1, 1500) AS i`)
		env.Exec(`INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted, look)
			SELECT 't' || i, 'river', '1', 'j', '2020-01-01', '2020-01-01', '2020-01-01' FROM generate_series(1, 1500) AS i`)
		for _, table := range []string{"job", "periodic_open"} {
			env.Trigger(table, "DELETE", "true", "PERFORM pg_sleep(0.002); RETURN OLD", "")
		}
		impatient, err := store.Open(t.Context(), env.URL, store.Options{StatementTimeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, impatient)
		env.db = impatient
		if n := env.prune(t, scheduler.Retention{Ticks: oneDay, Jobs: oneDay}); n.Jobs != 1500 {
			t.Errorf("%d jobs were deleted", n.Jobs)
		}
		env.Want(0, "SELECT count(*) FROM periodic_open")
	})
}
