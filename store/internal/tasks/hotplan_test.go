package tasks

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
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

// explained explains each statement before it runs.
type explained struct {
	jobqueue.DBTX
	explain string
	check   func(query string, plan []string)
}

func (e explained) plan(ctx context.Context, query string, args []any) error {
	if sqldb.Keeps(ctx) > 0 {
		if err := e.keptPlan(ctx, query, args); err != nil {
			return err
		}
	}
	rows, err := e.DBTX.QueryContext(ctx, e.explain+query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(string)
		}
		if err := rows.Scan(values...); err != nil {
			return err
		}
		lines = append(lines, *values[len(values)-1].(*string))
	}
	e.check(query, lines)
	return rows.Err()
}

// keptPlan explains the plan that does not depend on the parameters.
func (e explained) keptPlan(ctx context.Context, query string, args []any) error {
	values := make([]string, len(args))
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return err
		}
		values[i] = "'" + strings.ReplaceAll(fmt.Sprint(value), "'", "''") + "'"
	}
	for _, statement := range []string{"SET LOCAL plan_cache_mode = force_generic_plan", "PREPARE kept AS " + query} {
		if _, err := e.DBTX.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	plain := explained{e.DBTX, e.explain, e.check}
	if err := plain.plan(context.Background(), "EXECUTE kept ("+strings.Join(values, ", ")+")", nil); err != nil {
		return err
	}
	for _, statement := range []string{"DEALLOCATE kept", "SET LOCAL plan_cache_mode = auto"} {
		if _, err := e.DBTX.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// QueryContext implements [jobqueue.DBTX].
func (e explained) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := e.plan(ctx, query, args); err != nil {
		return nil, err
	}
	return e.DBTX.QueryContext(ctx, query, args...)
}

// ExecContext implements [jobqueue.DBTX].
func (e explained) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if strings.HasPrefix(query, "SET ") {
		return e.DBTX.ExecContext(ctx, query, args...)
	}
	if err := e.plan(ctx, query, args); err != nil {
		return nil, err
	}
	return e.DBTX.ExecContext(ctx, query, args...)
}

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

// scheduleOnce runs the statements of a batch; with whole it submits by one statement, where the
// database can do that.
func scheduleOnce(ctx context.Context, db *sqldb.DB, whole bool, explain string, check func(query string, plan []string)) error {
	return db.Update(ctx, func(outer *sqldb.Tx) error {
		tx := schedulerTx{db.In(explained{outer.DBTX(), explain, check}, outer.Now())}
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
			if left, can, err := tx.SubmitAtOnce(ctx, sink, plans); can || err != nil {
				if len(left) > 0 {
					err = fmt.Errorf("left %+v, %w", left, err)
				}
				return err
			}
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
	})
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
			for way, whole := range map[string]bool{"steps": false, "one statement": true} {
				if whole && kind == storetest.SQLite {
					continue // which has the steps only
				}
				t.Run(name+"/"+way, func(t *testing.T) {
					t.Parallel()
					statements := 0
					check := func(query string, plan []string) {
						statements++
						if table := wholeTable(t, kind, plan); table != "" {
							t.Errorf("%s\n  reads all of %s", query, table)
						}
					}
					url, explain := storetest.PostgresURL, "EXPLAIN (FORMAT JSON) "
					if kind == storetest.SQLite {
						url, explain = storetest.SQLiteURL, "EXPLAIN QUERY PLAN "
					}
					if err := scheduleOnce(t.Context(), manyTasks(t, url(t), analyzeFirst), whole, explain, check); err != nil {
						t.Fatal(err)
					}
					if want := map[bool]int{false: 7, true: 6}[whole]; statements < want {
						t.Errorf("only %d statements were explained", statements)
					}
				})
			}
		}
	})
}
