package tasks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/store/internal/connect"
)

const (
	manyRows = 20_000
	dueRows  = 10
)

// manyTasks opens a database with many tasks, of which a few are due, and with many
// finished jobs and their ticks. Its statistics are of that time, or of empty tables.
func manyTasks(t *testing.T, url string, analyzeFirst bool) *sqldb.DB {
	t.Helper()
	db, err := connect.Open(t.Context(), url, sqldb.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	user := storetest.At(t, url)
	statements := []string{
		`INSERT INTO periodic_task (id, task, timer, nextrun)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ` + fmt.Sprint(manyRows) + `)
			SELECT 'task-' || i, 't', 'yearly', CASE WHEN i <= ` + fmt.Sprint(dueRows) + ` THEN '2026-01-01 00:00:00.000000'
				ELSE '2126-01-01 00:00:00.000000' END` + map[bool]string{true: `::timestamp`}[strings.HasPrefix(url, "postgres")] + ` FROM n`,
		`UPDATE periodic_task SET due = nextrun`,
		`INSERT INTO job (jid, task, tracker, state, single, due) SELECT 'j' || id, 't', id, 'success', true, '2025-01-01 00:00:00.000000' FROM periodic_task`,
		`INSERT INTO periodic_tick (task_id, due, decision, decided) SELECT id, '2025-01-01 00:00:00.000000', 'submitted', '2025-01-01 00:00:00.000000' FROM periodic_task`,
		`INSERT INTO periodic_tick (task_id, due, decision) SELECT id, '2127-01-01 00:00:00.000000', 'skipped' FROM periodic_task WHERE id LIKE 'task-19%'`,
	}
	if analyzeFirst {
		user.Exec(`ANALYZE`)
	}
	for _, statement := range statements {
		user.Exec(statement)
	}
	if !analyzeFirst {
		user.Exec(`ANALYZE`)
	}
	return db
}

// errUndo ends a transaction whose statements have all succeeded.
var errUndo = errors.New("undo it")

// scheduleOnce runs the statements of a batch, and undoes it; with whole it submits by one statement.
func scheduleOnce(ctx context.Context, db *sqldb.DB, whole bool, explain string, check func(query string, plan []string)) error {
	err := db.Update(ctx, func(outer *sqldb.Tx) error {
		tx := schedulerTx{db.In(explained{outer.DBTX(), explain, check}, outer.Now())}
		return cmp.Or(tx.batchOnce(ctx, db, whole), errUndo)
	})
	if errors.Is(err, errUndo) {
		return nil
	}
	return err
}

func (tx schedulerTx) batchOnce(ctx context.Context, db *sqldb.DB, whole bool) error {
	if found, err := tx.summary(ctx, batch.Look{}); err != nil || !found.Due {
		return fmt.Errorf("a look: %+v, %w", found, err)
	}
	tasks, err := tx.Tasks(ctx, batch.Wanted{Limit: 1000})
	if err != nil || len(tasks) != dueRows {
		return fmt.Errorf("read %d tasks, %w", len(tasks), err)
	}
	var plans []periodic.Plan
	var ticks []periodic.Tick
	var jobs []jobqueue.Job
	var ids []string
	var keys []periodic.TickKey
	next := time.Date(2127, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range tasks {
		of := &tasks[i]
		tick := periodic.Tick{TaskID: of.ID, Due: of.Due, Decision: periodic.Submitted, JID: "n" + of.ID, Worker: "w@1", Decided: tx.Now()}
		plans = append(plans, periodic.Plan{Task: of, Due: next, NextRun: next, Ticks: []periodic.Tick{tick}})
		ticks, ids, keys = append(ticks, tick), append(ids, of.ID), append(keys, tick.Key())
		jobs = append(jobs, of.Job(tick.JID, of.Due, tx.Now()))
	}
	sink := NewJobSink(db)
	if _, err := sink.Pending(ctx, tx.DBTX(), ids); err != nil {
		return err
	}
	if _, err := tx.Ticks(ctx, keys); err != nil {
		return err
	}
	if whole {
		if left, can, err := tx.SubmitPlain(ctx, sink, plans); !can || err != nil || len(left) > 0 {
			return fmt.Errorf("submitted: %t, left %+v, %w", can, left, err)
		}
		return nil
	}
	if kept, err := tx.Advance(ctx, plans); err != nil || len(kept) != dueRows {
		return fmt.Errorf("advanced %d tasks, %w", len(kept), err)
	}
	if recorded, err := tx.Record(ctx, nil, ticks); err != nil || len(recorded) != dueRows {
		return fmt.Errorf("recorded %d ticks, %w", len(recorded), err)
	}
	if refused, err := sink.Submit(ctx, tx.DBTX(), jobs); err != nil || len(refused) > 0 {
		return fmt.Errorf("refused %v, %w", refused, err)
	}
	return nil
}

// scansTable finds a node that reads all of a table that may be big. Calendars are read once when they have changed.
func scansTable(n storetest.PlanNode) string {
	if n.Type == "Seq Scan" && n.Relation != "periodic_open" && n.Relation != "periodic_calendar" {
		return n.Relation
	}
	for _, below := range n.Plans {
		if found := scansTable(below); found != "" {
			return found
		}
	}
	return ""
}

// comparesEachWithEach finds a join that reads all rows of a statement's own for each row of another one:
// PostgreSQL takes it where it expects one row, as it does of what a statement has just written.
func comparesEachWithEach(n storetest.PlanNode) bool {
	if n.Type == "Nested Loop" && len(n.Plans) == 2 && (n.Plans[1].Type == "CTE Scan" || n.Plans[1].Type == "Function Scan") {
		return true
	}
	return slices.ContainsFunc(n.Plans, comparesEachWithEach)
}

// wholeTable is the table of which a plan reads all rows; empty: none.
func wholeTable(t *testing.T, kind string, plan []string) string {
	t.Helper()
	if kind == storetest.SQLite {
		for _, line := range plan {
			line, scans := strings.CutPrefix(line, "SCAN ")
			for _, table := range []string{"periodic_task", "periodic_tick", "job", "t", "k", "j", "o"} {
				// The indexes of nextrun's own hold few of the rows.
				if (line == table || strings.HasPrefix(line, table+" ")) && scans && !strings.Contains(line, "INDEX nextrun_") {
					return line
				}
			}
		}
		return ""
	}
	var plans []struct{ Plan storetest.PlanNode }
	if err := json.Unmarshal([]byte(strings.Join(plan, "\n")), &plans); err != nil {
		t.Fatal(err)
	}
	if comparesEachWithEach(plans[0].Plan) {
		return "its own rows for each of its rows"
	}
	return scansTable(plans[0].Plan)
}

// The statements of a batch use indexes, whether the statistics are of the tables as they
// are or of empty ones.
func TestBatchReadsNoWholeTable(t *testing.T) {
	t.Parallel()
	storetest.Kinds(t, func(t *testing.T, kind string) {
		for name, analyzeFirst := range map[string]bool{"realistic": false, "analysed while empty": true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				url, explain, ways := storetest.PostgresURL, "EXPLAIN (FORMAT JSON) ", map[bool]int{false: 7, true: 6}
				if kind == storetest.SQLite { // which cannot submit by one statement
					url, explain, ways = storetest.SQLiteURL, "EXPLAIN QUERY PLAN ", map[bool]int{false: 7}
				}
				db := manyTasks(t, url(t), analyzeFirst)
				for whole, least := range ways {
					statements := 0
					check := func(query string, plan []string) {
						statements++
						if table := wholeTable(t, kind, plan); table != "" {
							t.Errorf("%s\n  reads all of %s", query, table)
						}
					}
					if err := scheduleOnce(t.Context(), db, whole, explain, check); err != nil {
						t.Fatal(err)
					}
					if statements < least {
						t.Errorf("by one statement: %t: only %d statements were explained", whole, statements)
					}
				}
			})
		}
	})
}
