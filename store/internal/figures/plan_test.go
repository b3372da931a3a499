package figures

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/store/internal/connect"
	"github.com/nextrun/nextrun/store/internal/sqldb"
	"github.com/nextrun/nextrun/store/storetest"
)

const tasks, ticks = 20, 300

// filled is a database with many ticks of each task, whose jobs are over, and one job
// that waits.
func filled(t *testing.T, kind string) *sqldb.DB {
	t.Helper()
	d := storetest.New(t, kind)
	db, err := connect.Open(t.Context(), d.URL, sqldb.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrator().Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Exec("DELETE FROM periodic_task")
	series := fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT ", ticks)
	for i := range tasks {
		id := fmt.Sprint("task-", i)
		d.Exec("INSERT INTO periodic_task (id, task, timer) VALUES (?, 'x', 'yearly')", id)
		d.Exec("INSERT INTO job (jid, task, tracker, state, finished) "+series+"? || '-' || i, 'x', ?, 'success', '2026-01-01 00:00:00.000000' FROM n", id, id)
		d.Exec("INSERT INTO periodic_tick (task_id, due, decision, decided, jid) "+series+
			"?, CAST('2026-01-01 00:00:00.' || (100000 + i) AS "+map[string]string{"postgres": "timestamp", "sqlite": "text"}[kind]+"), 'submitted', '2026-01-01 00:00:00.000000', ? || '-' || i FROM n", id, id)
	}
	d.Exec("INSERT INTO job (task) VALUES ('x')")
	d.Exec("ANALYZE")
	return db
}

// plans explains the statements for the depth of the queue and the history of all tasks.
func plans(t *testing.T, db *sqldb.DB, kind string) (list [][]string) {
	t.Helper()
	explain := map[string]string{"postgres": "EXPLAIN (ANALYZE, FORMAT JSON) ", "sqlite": "EXPLAIN QUERY PLAN "}[kind]
	var all [][]string
	var ids []string
	for i := range tasks {
		ids = append(ids, fmt.Sprint("task-", i))
	}
	err := db.View(t.Context(), func(outer *sqldb.Tx) error {
		if kind == "postgres" { // these tables are so small that reading all of them would pay
			if _, err := outer.Exec(t.Context(), "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"); err != nil {
				return err
			}
		}
		explained := db.In(storetest.Explainer{DBTX: outer.DBTX(), Explain: explain, Plans: &all}, outer.Now())
		totals := &Totals{Now: outer.Now()}
		if err := totals.readQueue(t.Context(), explained); err != nil || len(totals.Queue) != 1 || totals.Queue[0].Jobs != 1 {
			t.Errorf("the queue is %+v (%v)", totals.Queue, err)
		}
		list = append(list, all[len(all)-1])
		_, err := readHistory(t.Context(), explained, ids, 10, true)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(list, all[len(all)-1])
}

// A figure costs the same whatever the tables hold: of the queue only jobs that are not
// over are read, of a task its newest ticks, and these once.
func TestFiguresReadNoHistory(t *testing.T) {
	t.Parallel()
	storetest.Kinds(t, func(t *testing.T, kind string) {
		list := plans(t, filled(t, kind), kind)
		for i, most := range []float64{2, tasks * (10*3 + 50*2)} {
			if kind == "sqlite" {
				for _, line := range list[i] {
					if fields := strings.Fields(line); fields[0] == "SCAN" && !strings.Contains(line, " INDEX ") &&
						(strings.HasPrefix(fields[1], "job") || strings.HasPrefix(fields[1], "periodic_tick")) {
						t.Errorf("all rows are read: %s", line)
					}
				}
				continue
			}
			var plan []struct{ Plan storetest.PlanNode }
			if err := json.Unmarshal([]byte(strings.Join(list[i], "\n")), &plan); err != nil {
				t.Fatal(err)
			}
			if read := plan[0].Plan.Read("job", "periodic_tick"); read > most || read == 0 {
				t.Errorf("plan %d reads %g rows, want up to %g", i, read, most)
			}
		}
	})
}
