package queues_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
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
		if f.Kind == storetest.SQLite {
			f.looksUp(q, open, "SEARCH j USING INTEGER PRIMARY KEY")
		} else {
			f.looksUp(q, open, "river_job_pkey")
		}
	})
}

func TestPGMQLooksUpMessagesByTheirNumber(t *testing.T) {
	f := pgmqFixture(t)
	q := f.queue(queues.PGMQ{Queue: "mail"})
	open := f.accept(q, f.tasks(1)...)
	f.Exec("SELECT pgmq.send_batch('mail', array_fill('{}'::jsonb, ARRAY[2000]), array_fill('{}'::jsonb, ARRAY[2000]))")
	f.looksUp(q, open, "q_mail_pkey")
}

func TestGraphileLooksUpJobsByTheirID(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	open := f.accept(q, f.tasks(1)...)
	f.Exec("INSERT INTO graphile_worker._private_jobs (task_id) SELECT 1 FROM generate_series(1, 2000)")
	f.looksUp(q, open, "_private_jobs_pkey")
}

// looksUp checks that want is part of the plans of pending and cancel, with statistics
// and without.
func (f *fixture) looksUp(q sink.Submitter, open []sink.Open, want string) {
	f.Helper()
	explain := "EXPLAIN "
	if f.Kind == storetest.SQLite {
		explain = "EXPLAIN QUERY PLAN "
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
				f.Fatal(err)
			}
			last := ""
			if len(plans) > 0 {
				last = strings.Join(plans[len(plans)-1], "\n")
			}
			if !strings.Contains(last, want) {
				f.Errorf("%s, %q: the plan is\n%s\n  want %s in it", name, statistics, last, want)
			}
		}
	}
}
