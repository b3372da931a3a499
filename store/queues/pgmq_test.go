package queues_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/queues"
)

// pgmqFixture has the queues mail and Bulk. NEXTRUN_TEST_PGMQ may name PGMQ's own SQL
// file, pgmq-extension/sql/pgmq.sql, to be used in place of the one in testdata.
func pgmqFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	f := newFixture(t, migrated.New(t, storetest.Postgres).Database)
	if path := os.Getenv("NEXTRUN_TEST_PGMQ"); path != "" {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Exec(string(script))
	} else {
		f.run("pgmq.sql")
	}
	f.Exec("SELECT pgmq.create('mail'); SELECT pgmq.create('Bulk')")
	return f
}

func TestPGMQTakesABatch(t *testing.T) {
	f := pgmqFixture(t)
	q := f.queue(queues.PGMQ{})
	jobs := f.tasks(1000)
	for i := range jobs {
		jobs[i].Group = []string{"mail", "Bulk"}[i%2]
	}
	open := f.accept(q, jobs...)
	f.Want(500, "SELECT count(*) FROM pgmq.q_mail WHERE vt <= clock_timestamp()")
	for _, i := range []int{0, 499, 998, 999} {
		table, id, _ := strings.Cut(open[i].Ref, "/")
		f.Want(fmt.Sprintf("%d report t%d 2026-03-04T05:06:07.089Z %s", i, i, jobs[i].JID), `SELECT (message->>'n') || ' ' || (headers->>'handler') || ' ' ||
			(headers->'nextrun'->>'task') || ' ' || (headers->'nextrun'->>'due') || ' ' || (headers->'nextrun'->>'jid')
			FROM pgmq.q_`+table+` WHERE msg_id = CAST(? AS bigint)`, id)
	}
	if got := len(f.pending(q, open...)); got != 1000 {
		t.Errorf("%d of 1000 jobs are pending", got)
	}
}

func TestPGMQPendingAndCancel(t *testing.T) {
	f := pgmqFixture(t)
	q := f.queue(queues.PGMQ{Queue: "MAIL"})
	open := f.accept(q, f.tasks(5)...)
	f.Exec("SELECT pgmq.read('mail', 3600, 1); SELECT pgmq.read('mail', 0, 1); SELECT pgmq.archive('mail', ARRAY[3::bigint]); SELECT pgmq.delete('mail', ARRAY[4::bigint])")
	by := map[string]string{} // the jid of a message
	for _, o := range open {
		by[o.Ref] = o.JID
	}
	wantStates(t, f.pending(q, open...), map[string]string{by["mail/1"]: "running", by["mail/2"]: "stuck", by["mail/5"]: "waiting"})
	wantSame(t, f.cancel(q, open...), by["mail/5"])
	f.Want("3 5", "SELECT string_agg(msg_id::text, ' ' ORDER BY msg_id) FROM pgmq.a_mail")
	open[0].Ref = "17"
	open[1].Ref = "nowhere/1"
	if got := f.pending(q, open[:2]...); len(got) > 0 {
		t.Errorf("pending %+v, which are no messages of PGMQ", got)
	}
}

func TestPGMQRefusesRowsAlone(t *testing.T) {
	f := pgmqFixture(t)
	q := f.queue(queues.PGMQ{})
	jobs := append(f.tasks(20), f.task("text", "not JSON"), f.task("elsewhere", "{}"), f.task("odd", "{}"), f.task("new", "{}"))
	jobs[21].Group, jobs[22].Group, jobs[23].Group = "elsewhere", `a"b`, "late"
	f.accept(q, jobs[0])
	f.Exec("SELECT pgmq.create('late')") // after the tables were looked at
	done := f.sortOut(q, jobs[1:]...)
	wantRefused(t, done, map[string]string{
		jobs[20].JID: "invalid input syntax for type json", jobs[21].JID: `no queue "elsewhere": run SELECT pgmq.create`, jobs[22].JID: `no queue "a\"b"`,
	})
	f.Want("20 1", "SELECT (SELECT count(*) FROM pgmq.q_mail) || ' ' || (SELECT count(*) FROM pgmq.q_late)")
}

// TestPGMQLooksAgainForNewQueues: another scheduler may know a queue that this one
// does not know yet. Its jobs are not final.
func TestPGMQLooksAgainForNewQueues(t *testing.T) {
	f := pgmqFixture(t)
	one, other := f.queue(queues.PGMQ{}), f.queue(queues.PGMQ{})
	jobs := f.tasks(2)
	jobs[1].Group = "late"
	f.accept(one, jobs[0])
	f.Exec("SELECT pgmq.create('late')")
	open := f.accept(other, jobs[1])
	if got := f.pending(one, open...); len(got) != 1 {
		t.Errorf("pending %+v, want the job", got)
	}
}

func TestPGMQSaysWhyItCannotBeUsed(t *testing.T) {
	for name, b := range map[string]broken{
		"missing":  {"DROP SCHEMA pgmq CASCADE", `relation "pgmq.meta" does not exist; nextrun needs PGMQ 1.5 or newer: CREATE EXTENSION pgmq`},
		"old":      {"DROP FUNCTION pgmq.send_batch(text, jsonb[], jsonb[])", "PGMQ has no function send_batch with headers; nextrun needs PGMQ 1.5"},
		"no queue": {"DELETE FROM pgmq.meta", `PGMQ has no queue "mail"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := pgmqFixture(t)
			f.Exec(b.setup)
			r := f.report(f.queue(queues.PGMQ{Queue: "mail"}))
			if !strings.Contains(strings.Join(append(r.Problems, r.Warnings...), " "), b.want) {
				t.Errorf("%+v; want %s", r, b.want)
			}
		})
	}
}

func TestPGMQRights(t *testing.T) {
	f := pgmqFixture(t)
	jobs := f.tasks(2)
	jobs[1].Group = "bulk"
	role := f.role()
	q := role.queue(queues.PGMQ{})
	role.unusable(q, "permission denied for schema pgmq")
	f.Exec("GRANT USAGE ON SCHEMA pgmq TO " + role.name + "; GRANT SELECT ON pgmq.meta TO " + role.name)
	f.Exec("GRANT SELECT, INSERT, UPDATE, DELETE ON pgmq.q_mail TO " + role.name + "; GRANT SELECT, INSERT ON pgmq.a_mail TO " + role.name)
	done, err := role.submit(q, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range done {
		wants := s.JID == jobs[1].JID
		if wants != (s.Refused != "") || wants && (!s.Passing || !strings.Contains(s.Refused, `permission denied for table q_bulk`)) {
			t.Errorf("%+v: want the job for bulk refused, for now, with the right that is missing", s)
		}
	}
	if r := role.report(q); len(r.Problems) > 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "bulk: enqueue: permission denied") {
		t.Errorf("%+v; want a warning about bulk", r)
	}
}
