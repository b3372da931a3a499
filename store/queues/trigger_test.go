package queues_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// endTrigger is the SQL of queue-trigger.sql: of River, or of another queue with what its line of the comment says.
func endTrigger(t *testing.T, queue string) string {
	t.Helper()
	file, err := os.ReadFile("../../dist/postgres/queue-trigger.sql")
	if err != nil {
		t.Fatal(err)
	}
	script := string(file)
	if queue == "River" {
		return script
	}
	line := regexp.MustCompile("--   " + queue + ": (.*); (AFTER .*)\n").FindStringSubmatch(script)
	if line == nil {
		t.Fatalf("queue-trigger.sql has no line for %s", queue)
	}
	_, script, _ = strings.Cut(script, "CREATE FUNCTION")
	script = "CREATE FUNCTION" + script
	event := regexp.MustCompile(`(?s)AFTER UPDATE OF state ON river_job.*? EXECUTE`)
	return event.ReplaceAllLiteralString(strings.Replace(script, "OLD.id::text", line[1], 1), line[2]+" EXECUTE")
}

// open adds the rows that a scheduler adds for jobs.
func (f *fixture) open(open ...sink.Open) {
	f.Helper()
	for _, o := range open {
		f.Exec("INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted, look) VALUES (?, 'river', ?, ?, '2026-03-04 05:06:07.000000', '2026-03-04 05:06:07.000000', '2099-01-01 00:00:00.000000')",
			o.TaskID, o.Ref, o.JID)
	}
}

const askedSoon = "SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM periodic_open WHERE look < '2099-01-01 00:00:00.000000'"

// The trigger has schedulers ask about a job at once when it ends, and only then.
// Migrations leave it alone, and are not taken back while it is there, since no job of the queue could end then.
func TestEndTrigger(t *testing.T) {
	f := riverOn(storetest.Postgres)(t)
	open := f.accept(f.queue(queues.River{}), f.tasks(4)...)
	f.open(open...)
	f.Exec("UPDATE periodic_open SET sink = 'other' WHERE task_id = 't3'")
	f.Exec(endTrigger(t, "River"))
	for i, what := range []string{"state = 'running'", "state = 'completed', finalized_at = now()", "state = 'discarded', finalized_at = now()", "state = 'completed', finalized_at = now()"} {
		f.Exec("UPDATE river_job SET "+what+" WHERE id = CAST(? AS bigint)", open[i].Ref)
	}
	f.Want("t1 t2", askedSoon)
	migrator := migrations.Of(f.db)
	if err := migrator.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	_, err := migrator.Down(t.Context())
	if err == nil || !strings.Contains(err.Error(), "DROP FUNCTION nextrun_ended_river() CASCADE;") {
		t.Fatalf("Down: %v; want an error with the remedy", err)
	}
	_, statements, _ := strings.Cut(err.Error(), "Run: ")
	f.Exec(statements)
	if _, err := migrator.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.Exec("DELETE FROM river_job")
}

// So do those of other queues, with what the script says about them.
func TestEndTriggersOfOtherQueues(t *testing.T) {
	for name, test := range map[string]struct {
		fixture func(*testing.T) *fixture
		kind    queues.Kind
		end     string // ends the job of task t0
	}{
		"Graphile Worker": {graphileFixture, queues.GraphileWorker{}, "DELETE FROM graphile_worker._private_jobs WHERE id = CAST(? AS bigint)"},
		"pg-boss":         {pgBossFixture, queues.PgBoss{}, "UPDATE pgboss.job SET state = 'completed' WHERE concat(name, '/', id) = ?"},
		"PGMQ":            {pgmqFixture, queues.PGMQ{Queue: "mail"}, "DELETE FROM pgmq.q_mail WHERE concat('mail/', msg_id) = ?"},
	} {
		t.Run(name, func(t *testing.T) {
			f := test.fixture(t)
			open := f.accept(f.queue(test.kind), f.tasks(2)...)
			f.open(open...)
			f.Exec(endTrigger(t, name))
			f.Exec(test.end, open[0].Ref)
			f.Want("t0", askedSoon)
		})
	}
}
