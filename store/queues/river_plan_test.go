package queues_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store/queues"
	"github.com/nextrun/nextrun/store/storetest"
)

// TestRiverLooksUpJobsByTheirID: whatever statistics there are, no look reads other
// jobs than those asked for.
func TestRiverLooksUpJobsByTheirID(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		open := f.accept(q, f.tasks(1)...)
		f.Exec(`WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < 2000)
			INSERT INTO river_job (args, kind, max_attempts) SELECT '{}', 'x', 1 FROM i`)
		explain, want := "EXPLAIN ", "river_job_pkey"
		if f.Kind == storetest.SQLite {
			explain, want = "EXPLAIN QUERY PLAN ", "SEARCH j USING INTEGER PRIMARY KEY"
		}
		for _, statistics := range []string{"", "ANALYZE"} {
			f.Exec(statistics)
			for name, run := range map[string]func(ctx context.Context, tx jobqueue.DBTX) error{
				"pending": func(ctx context.Context, tx jobqueue.DBTX) error { _, err := q.Pending(ctx, tx, open); return err },
				"cancel": func(ctx context.Context, tx jobqueue.DBTX) error {
					_, err := q.(canceller).Cancel(ctx, tx, open, due)
					return err
				},
			} {
				var plans [][]string
				if err := f.update(func(ctx context.Context, tx jobqueue.DBTX) error {
					return run(ctx, storetest.Explainer{DBTX: tx, Explain: explain, Plans: &plans})
				}); err != nil {
					t.Fatal(err)
				}
				if len(plans) != 1 || !strings.Contains(strings.Join(plans[0], "\n"), want) {
					t.Errorf("%s, %q: the plan is\n%s\n  want %s in it", name, statistics, strings.Join(slices.Concat(plans...), "\n"), want)
				}
			}
		}
	})
}
