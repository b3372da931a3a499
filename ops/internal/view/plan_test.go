package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

const tasks, ticks = 20, 300

// filled is a database with many ticks of each task, whose jobs are over, and one job
// that waits.
func filled(t *testing.T, kind string) *sqldb.DB {
	t.Helper()
	d := storetest.New(t, kind)
	db, err := store.Open(t.Context(), d.URL, store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	series := fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT ", ticks)
	for i := range tasks {
		id := fmt.Sprint("task-", i)
		d.Exec("INSERT INTO periodic_task (id, task, timer) VALUES (?, 'x', 'yearly')", id)
		d.Exec("INSERT INTO job (jid, task, tracker, state, started, finished) "+series+"? || '-' || i, 'x', ?, 'success', '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000' FROM n", id, id)
		d.Exec("INSERT INTO periodic_tick (task_id, due, decision, decided, jid) "+series+
			"?, CAST('2026-01-01 00:00:00.' || (100000 + i) AS "+map[string]string{"postgres": "timestamp", "sqlite": "text"}[kind]+"), 'submitted', '2026-01-01 00:00:00.000000', ? || '-' || i FROM n", id, id)
	}
	d.Exec("INSERT INTO job (task) VALUES ('x')")
	d.Exec("ANALYZE")
	return sqldb.Of(db)
}

// explained are the plans of the queries that read makes.
func explained(t *testing.T, db *sqldb.DB, kind string, read func(tx *sqldb.Tx) error) (plans [][]string) {
	t.Helper()
	explain := map[string]string{"postgres": "EXPLAIN (ANALYZE, FORMAT JSON) ", "sqlite": "EXPLAIN QUERY PLAN "}[kind]
	err := db.View(t.Context(), func(outer *sqldb.Tx) error {
		if kind == "postgres" { // these tables are so small that reading all of them would pay
			if _, err := outer.Exec(t.Context(), "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"); err != nil {
				return err
			}
		}
		return read(db.In(storetest.Explainer{DBTX: outer.DBTX(), Explain: explain, Plans: &plans}, outer.Now()))
	})
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

// wantBounded checks that a plan reads some rows of jobs and ticks, and not more than most.
func wantBounded(t *testing.T, kind string, plan []string, most float64) {
	t.Helper()
	if kind == "sqlite" {
		for _, line := range plan {
			if fields := strings.Fields(line); fields[0] == "SCAN" && !strings.Contains(line, " INDEX ") &&
				(strings.HasPrefix(fields[1], "job") || strings.HasPrefix(fields[1], "periodic_tick")) {
				t.Errorf("all rows are read: %s", line)
			}
		}
		return
	}
	var root []struct{ Plan storetest.PlanNode }
	if err := json.Unmarshal([]byte(strings.Join(plan, "\n")), &root); err != nil {
		t.Fatal(err)
	}
	if read := root[0].Plan.Read("job", "periodic_tick"); read > most || read == 0 {
		t.Errorf("%g rows are read, want up to %g", read, most)
	}
}

func last(plans [][]string) []string { return plans[len(plans)-1] }

// A figure costs the same whatever the tables hold: of the queue only jobs that are not
// over are read, of a task its newest ticks, and these once.
func TestFiguresReadNoHistory(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range tasks {
		ids = append(ids, fmt.Sprint("task-", i))
	}
	storetest.Kinds(t, func(t *testing.T, kind string) {
		db := filled(t, kind)
		plans := explained(t, db, kind, func(tx *sqldb.Tx) error {
			totals := &Totals{Now: tx.Now(), Jobs: map[jobqueue.State]int{}}
			err := totals.readQueue(t.Context(), tx)
			if len(totals.Queue) != 1 || totals.Queue[0].Jobs != 1 {
				t.Errorf("the queue is %+v", totals.Queue)
			}
			return err
		})
		wantBounded(t, kind, last(plans), 2)
		plans = explained(t, db, kind, func(tx *sqldb.Tx) error {
			_, err := readNewest(t.Context(), tx, ids, 10, periodic.Never)
			return err
		})
		wantBounded(t, kind, last(plans), tasks*10*3)
	})
}

// What became of single ticks costs these ticks and their jobs.
func TestRunsOfTicksReadTheseOnly(t *testing.T) {
	t.Parallel()
	storetest.Kinds(t, func(t *testing.T, kind string) {
		db := filled(t, kind)
		keys := []periodic.TickKey{
			{TaskID: "task-2", Due: time.Date(2026, 1, 1, 0, 0, 0, 100_007_000, time.UTC)}, {TaskID: "task-1", Due: time.Date(2026, 1, 1, 0, 0, 0, 100_300_000, time.UTC)},
			{TaskID: "no-task", Due: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		}
		plans := explained(t, db, kind, func(tx *sqldb.Tx) error {
			list, err := readOf(t.Context(), tx, keys)
			if len(list) != 2 || list[0].JID != "task-2-7" || list[1].JID != "task-1-300" || list[1].Submitted.IsZero() {
				t.Errorf("the runs are %+v", list)
			}
			return err
		})
		wantBounded(t, kind, last(plans), 2*3)
	})
}
