package queues_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/queues"
)

// Roles with the rights of Grants can do all that a scheduler does.
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
			one, other := f.role(), f.role()
			grants := strings.Join(queues.Grants(test.kind, one.name+", "+other.name), "\n")
			f.Exec(grants + grants) // they can be repeated
			for _, role := range []role{one, other} {
				q := role.queue(test.kind)
				report, err := q.Inspect(t.Context())
				if err != nil || len(report.Problems) > 0 {
					t.Fatalf("with\n%s\n%v, %v", grants, report.Problems, err)
				}
				open := role.accept(q, jobOf("t"))
				if got := role.pending(q, open...); len(got) != 1 {
					t.Errorf("pending are %v, want the job", got)
				}
				wantSame(t, role.cancel(q, open...), open[0].JID)
			}
		})
	}
	if grants := queues.Grants(queues.SQL{}, "x"); grants != nil {
		t.Errorf("statements need %v, which nobody knows", grants)
	}
}
