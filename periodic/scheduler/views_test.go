package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestViews(t *testing.T) {
	both(t, func(f *fixture) {
		for _, id := range []string{"later", "sooner", "overdue", "running"} {
			f.exec(insertTask, id, "2090-01-01")
		}
		f.exec("INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('off', 'backup', 'daily', false)")
		f.exec(insertTask, "bad", "nonsense")
		f.exec("UPDATE periodic_task SET timer = '2080-01-01' WHERE id = 'sooner'")
		f.due("running", 10*time.Second)
		f.once()
		f.exec("UPDATE job SET state = 'running'")
		f.due("running", time.Second)
		f.once()
		f.due("overdue", time.Minute)
		f.exec("UPDATE periodic_task SET since = ?", f.at(-time.Hour))
		f.exec("UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = 'overdue'", f.at(-time.Minute), f.at(-time.Minute))

		f.want("overdue", "SELECT id FROM periodic_health WHERE overdue IS NOT NULL")
		f.want("skipped", "SELECT last_decision FROM periodic_health WHERE id = 'running' AND submitted_24h = 1 AND skipped_24h = 1")
		f.want(1, "SELECT count(*) FROM periodic_health WHERE problem IS NOT NULL AND id = 'bad'")
		f.once()
		f.want(0, "SELECT count(*) FROM periodic_health WHERE overdue IS NOT NULL")
	})
}

// The view of 10,000 tasks reads of each its ticks of a day, by the primary key,
// and not all that are kept: the time in it is one that indexes can be asked for.
func TestHealthReadsADay(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('report', ?, 'submitted', ?)", f.at(0), f.at(0))
		user := f.Connect()
		user.SetMaxOpenConns(1)
		var steps []struct {
			ID, Parent, NotUsed int // SQLite's
			Detail              string
			Plan                string `db:"QUERY PLAN"`
		}
		explain, want := "EXPLAIN QUERY PLAN SELECT * FROM periodic_health", "(task_id=? AND due>?)"
		if f.Kind == "postgres" {
			explain, want = "EXPLAIN SELECT * FROM periodic_health", "Index Cond: (((task_id)::text = (t.id)::text) AND (due > "
			if _, err := user.Exec("SET enable_seqscan = off; SET enable_bitmapscan = off"); err != nil {
				f.Fatal(err)
			}
		}
		f.done(user.Select(&steps, explain))
		if plan := fmt.Sprint(steps); !strings.Contains(plan, want) {
			f.Errorf("the plan lacks %q:\n%s", want, plan)
		}
	})
}
