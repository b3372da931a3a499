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
	q := f.queue(queues.PGMQ{Queue: "Bulk"})
	jobs := f.tasks(1000)
	open := f.accept(q, jobs...)
	f.Want(1000, "SELECT count(*) FROM pgmq.q_bulk WHERE vt <= clock_timestamp()")
	for _, i := range []int{0, 499, 998, 999} {
		_, id, _ := strings.Cut(open[i].Ref, "/")
		f.Want(fmt.Sprintf("%d report t%d 2026-03-04T05:06:07.089Z %s", i, i, jobs[i].JID), `SELECT (message->>'n') || ' ' || (headers->>'handler') || ' ' ||
			(headers->'nextrun'->>'task') || ' ' || (headers->'nextrun'->>'due') || ' ' || (headers->'nextrun'->>'jid')
			FROM pgmq.q_bulk WHERE msg_id = CAST(? AS bigint)`, id)
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
	q := f.queue(queues.PGMQ{Queue: "mail"})
	jobs := append(f.tasks(20), f.task("text", "not JSON"))
	wantRefused(t, f.sortOut(q, jobs...), map[string]string{jobs[20].JID: "invalid input syntax for type json"})
	f.Want(20, "SELECT count(*) FROM pgmq.q_mail")
}

func TestPGMQSaysWhyItCannotBeUsed(t *testing.T) {
	wantSaysWhy(t, pgmqFixture, queues.PGMQ{Queue: "mail"}, map[string]broken{
		"missing":  {"DROP SCHEMA pgmq CASCADE", `schema "pgmq" does not exist; nextrun needs PGMQ 1.5 or newer, CREATE EXTENSION pgmq`},
		"old":      {"DROP FUNCTION pgmq.send_batch(text, jsonb[], jsonb[])", "function pgmq.send_batch(unknown, jsonb[], jsonb[]) does not exist; nextrun needs PGMQ 1.5"},
		"no queue": {"DROP TABLE pgmq.q_mail", `relation "pgmq.q_mail" does not exist; nextrun needs PGMQ 1.5 or newer`},
	})
}

func TestPGMQRights(t *testing.T) {
	f := pgmqFixture(t)
	job := f.task("t", "{}")
	role := f.role()
	q := role.queue(queues.PGMQ{Queue: "mail"})
	role.unusable(q, "permission denied for schema pgmq")
	f.Exec("GRANT USAGE ON SCHEMA pgmq TO " + role.name)
	role.unusable(q, "permission denied for table q_mail")
	f.Exec("GRANT SELECT, INSERT, UPDATE, DELETE ON pgmq.q_mail TO " + role.name + "; GRANT SELECT, INSERT ON pgmq.a_mail TO " + role.name)
	role.accept(q, job)
}
