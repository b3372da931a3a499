package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
)

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
