package queues_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/queues"
)

// Who runs the statements that Inspect names, until it names none, lets a role do all that a scheduler does.
func TestGrantsAreEnough(t *testing.T) {
	t.Parallel()
	river := func(t *testing.T) *fixture {
		t.Parallel()
		d := migrated.New(t, storetest.Postgres).Database
		return newFixture(t, d, riverFiles(d, 7)...)
	}
	pgmq := func(t *testing.T) *fixture {
		t.Parallel()
		f := newFixture(t, migrated.New(t, storetest.Postgres).Database, "pgmq.sql")
		f.Exec("SELECT pgmq.create('mail')")
		return f
	}
	for name, test := range map[string]struct {
		fixture func(*testing.T) *fixture
		kind    queues.Kind
	}{
		"river":           {river, queues.River{}},
		"river in public": {river, queues.River{Schema: "public"}},
		"graphile worker": {graphileFixture, queues.GraphileWorker{}},
		"pg-boss":         {pgBossFixture, queues.PgBoss{}},
		"pgmq":            {pgmq, queues.PGMQ{}},
		"a queue of pgmq": {pgmq, queues.PGMQ{Queue: "Mail"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := test.fixture(t)
			f.task("t", "{}")
			role := f.role()
			q := role.queue(test.kind)
			for range 4 {
				report, err := q.Inspect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range report.Problems {
					_, statements, _ := strings.Cut(fmt.Sprint(p), "run: ")
					f.Exec(statements)
				}
			}
			if report, err := q.Inspect(t.Context()); err != nil || len(report.Problems) > 0 {
				t.Fatalf("%v, %v", report.Problems, err)
			}
			open := role.accept(q, jobOf("t"))
			if got := role.pending(q, open...); len(got) != 1 {
				t.Errorf("pending are %v, want the job", got)
			}
			wantSame(t, role.cancel(q, open...), open[0].JID)
		})
	}
}
