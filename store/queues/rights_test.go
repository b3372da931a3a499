package queues_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/queues"
)

// rights are the statements of queue-rights.sql that let a role feed a queue.
func rights(t *testing.T, queue, role string) string {
	t.Helper()
	script, err := os.ReadFile("../../dist/postgres/queue-rights.sql")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^-- ` + queue + `\b.*\n((?:GRANT .*\n|CREATE POLICY .*\n)+)`).FindStringSubmatch(string(script))
	if found == nil {
		t.Fatalf("queue-rights.sql has no rights for %s", queue)
	}
	return strings.ReplaceAll(found[1], "nextrun_scheduler", role)
}

// The rights of queue-rights.sql let a role do all that a scheduler does.
func TestRightsAreEnough(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fixture func(*testing.T) *fixture
		kind    queues.Kind
	}{
		"River":           {riverOn(storetest.Postgres), queues.River{}},
		"Graphile Worker": {graphileFixture, queues.GraphileWorker{}},
		"pg-boss":         {pgBossFixture, queues.PgBoss{}},
		"PGMQ":            {pgmqFixture, queues.PGMQ{Queue: "Mail"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := test.fixture(t)
			f.task("t", "{}")
			role := f.role()
			q := role.queue(test.kind)
			f.Exec("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM " + role.name + "; GRANT SELECT ON periodic_task TO " + role.name)
			if r := role.report(q); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "permission denied") {
				t.Errorf("without rights: %+v", r)
			}
			f.Exec(rights(t, name, role.name))
			if r := role.report(q); len(r.Problems)+len(r.Warnings) > 0 {
				t.Errorf("with rights: %+v", r)
			}
			open := role.accept(q, jobOf("t"))
			if got := role.pending(q, open...); len(got) != 1 {
				t.Errorf("pending are %v, want the job", got)
			}
			wantSame(t, role.cancel(q, open...), open[0].JID)
		})
	}
}
