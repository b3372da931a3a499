package jobs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
)

// The newest jobs are found by when jobs ended, however many there are, and in whatever order they ended.
func TestNewestJobs(t *testing.T) {
	t.Parallel()
	storetest.Kinds(t, func(t *testing.T, kind string) {
		d := storetest.New(t, kind)
		db := empty(t, d.URL)
		job := func(jid string, submitted, ended int, state string) {
			d.Exec(`INSERT INTO job (jid, task, state, submitted) VALUES (?, 'x', ?, '2026-01-01 00:00:00.`+fmt.Sprintf("%06d", submitted)+`')`, jid, state)
			if ended > 0 {
				d.Exec(`UPDATE job SET finished = '2026-01-01 00:00:00.`+fmt.Sprintf("%06d", ended)+`' WHERE jid = ?`, jid)
			}
		}
		for i := range 200 {
			job(fmt.Sprintf("done-%03d", i), 1000*i, 1000*i+500, "success")
		}
		job("long", 1500, 199_900, "failed") // old, and ended a moment ago
		for state, at := range map[string]int{"waiting": 199_100, "running": 198_200, "stuck": 197_300} {
			job(state, at, 0, state)
		}
		job("old", 1, 0, "waiting")
		var plans [][]string
		list := func(limit int) (jids []string) {
			err := db.View(t.Context(), func(outer *sqldb.Tx) error {
				explain := map[string]string{"postgres": "EXPLAIN ", "sqlite": "EXPLAIN QUERY PLAN "}[kind]
				jobs, err := jobTx{db.In(storetest.Explainer{DBTX: outer.DBTX(), Explain: explain, Plans: &plans}, outer.Now())}.Jobs(t.Context(), jobqueue.Filter{Limit: limit})
				for _, j := range jobs {
					jids = append(jids, j.JID)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return jids
		}
		if got, want := list(6), []string{"waiting", "done-199", "running", "done-198", "stuck", "done-197"}; !slices.Equal(got, want) {
			t.Errorf("the newest are %q, want %q", got, want)
		}
		if kind == "sqlite" && (len(plans) != 2 || slices.Contains(plans[1], "SCAN job")) {
			t.Errorf("the plans are %q", plans)
		}
		if got := list(300); len(got) != 205 || got[204] != "done-000" && got[204] != "old" {
			t.Errorf("all are %d", len(got))
		}
	})
}
