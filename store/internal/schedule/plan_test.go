package schedule

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/connect"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
)

// waitingTicks opens a database in which the jobs of many tasks run and a tick
// of each waits for their end, with statistics of another time: all tasks are
// due, and no tick is queued.
func waitingTicks(t *testing.T, url, analyze string) *sqldb.DB {
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
	for _, statement := range []string{
		`DELETE FROM periodic_task`,
		`INSERT INTO periodic_task (id, task, timer, overlap, nextrun)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
			SELECT 'task-' || i, 't', 'yearly', 'queue', '2026-01-01 00:00:00.000000' FROM n`,
		`INSERT INTO job (jid, task, tracker, state, single) SELECT 'j' || id, 't', id, 'running', true FROM periodic_task`,
		analyze,
		`UPDATE periodic_task SET nextrun = '2126-01-01 00:00:00.000000', due = '2126-01-01 00:00:00.000000'`,
		`INSERT INTO periodic_tick (task_id, due, decision, decided) SELECT id, '2026-01-01 00:00:00.000000', 'queued', nextrun FROM periodic_task`,
	} {
		user.Exec(statement)
	}
	return db
}

// explainLook returns the plans of a look for due tasks and of a claim of 10, of
// which one is ready.
func explainLook(t *testing.T, db *sqldb.DB, explain string) (plans [][]string) {
	t.Helper()
	for more := true; more; {
		tended, err := New(db, nil, nil).Tend(t.Context(), false, taskdb.Exclude{})
		if err != nil || tended.Ready {
			t.Fatalf("a look at ticks that wait: %+v, %v", tended, err)
		}
		more = tended.More
	}
	err := db.Update(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE job SET state = 'success' WHERE tracker = 'task-4711'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(outer *sqldb.Tx) error {
		tx := schedulerTx{db.In(storetest.Explainer{DBTX: outer.DBTX(), Explain: explain, Plans: &plans}, outer.Now())}
		if found, err := tx.summary(t.Context(), taskdb.Exclude{}); err != nil || !found.Ready {
			t.Errorf("a look after the end of a job: %+v, %v", found, err)
		}
		if found, err := readyTx(tx).tend(t.Context(), false, taskdb.Exclude{}); err != nil || !found.Ready {
			t.Errorf("a look after the end of a job: %+v, %v", found, err)
		}
		_, err := tx.Claim(t.Context(), taskdb.Claim{Limit: 10})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

// At each wake-up schedulers look for due tasks: ticks that wait cost nothing.
func TestLookReadsNoTicksThatWaitOnPostgres(t *testing.T) {
	t.Parallel()
	db := waitingTicks(t, storetest.PostgresURL(t), "VACUUM ANALYZE")
	all := 0.0
	for _, lines := range explainLook(t, db, "EXPLAIN (ANALYZE, FORMAT JSON) ") {
		var plans []struct{ Plan storetest.PlanNode }
		if err := json.Unmarshal([]byte(strings.Join(lines, "\n")), &plans); err != nil {
			t.Fatal(err)
		}
		read := plans[0].Plan.Read("r", "q", "k", "j")
		if all += read; read > 100 {
			t.Errorf("%g rows were read", read)
		}
	}
	if all < 4 {
		t.Errorf("only %g rows were read by all statements", all)
	}
}

func TestLookReadsNoTicksThatWaitOnSQLite(t *testing.T) {
	t.Parallel()
	db := waitingTicks(t, storetest.SQLiteURL(t), "ANALYZE")
	searches := 0
	for _, line := range slices.Concat(explainLook(t, db, "EXPLAIN QUERY PLAN ")...) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !slices.Contains([]string{"k", "j", "q"}, fields[1]) {
			continue
		}
		if searches++; fields[0] != "SEARCH" || !strings.Contains(line, "id=?") && !strings.Contains(line, "tracker=?") {
			t.Errorf("a look may read all ticks, jobs or tasks: %s", line)
		}
	}
	if searches < 8 {
		t.Errorf("only %d accesses to ticks, jobs and tasks in the plans", searches)
	}
}
