package queues_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// wantEnds compares what a queue tells of open jobs, in their order, with
// "STATE ATTEMPTS ERROR"; a job that it does not have is "-".
func (f *fixture) wantEnds(q sink.Submitter, open []sink.Open, want ...string) map[string]sink.JobEnd {
	f.Helper()
	by := map[string]sink.JobEnd{}
	if err := f.db.View(f.Context(), func(tx *sqldb.Tx) error {
		ends, err := q.(sink.EndTeller).Ends(f.Context(), tx.DBTX(), open)
		for _, e := range ends {
			by[e.JID] = e
		}
		return err
	}); err != nil {
		f.Fatal(err)
	}
	for i, o := range open {
		got := "-"
		if e, ok := by[o.JID]; ok {
			got = strings.Join([]string{string(e.State), strconv.Itoa(e.Attempts), e.Error}, " ")
		}
		if got != want[i] {
			f.Errorf("job %d: %q, want %q", i, got, want[i])
		}
	}
	return by
}

var ended = time.Date(2026, 3, 4, 5, 6, 9, 5e8, time.UTC)

func (f *fixture) wantFinished(ends map[string]sink.JobEnd, o sink.Open) {
	f.Helper()
	if at := ends[o.JID].Finished; !at.Equal(ended) {
		f.Errorf("it ended at %s, want %s", at, ended)
	}
}

func TestRiverTellsHowJobsEnd(t *testing.T) {
	t.Parallel()
	river(t, func(t *testing.T, f *fixture) {
		q := f.queue(queues.River{})
		open := f.accept(q, f.tasks(5)...)
		set := func(i int, state, more string) {
			f.Exec(`UPDATE river_job SET state = '`+state+`', attempt = 2`+more+` WHERE id = CAST(? AS integer)`, open[i].Ref)
		}
		final := ", finalized_at = '2026-03-04 05:06:09.5'"
		failures := `, errors = '[{"attempt": 1, "error": "first"}, {"attempt": 2, "error": "no space left"}]'`
		if f.Kind == storetest.Postgres {
			final = ", finalized_at = '2026-03-04 05:06:09.5+00'"
			failures = `, errors = ARRAY['{"attempt": 1, "error": "first"}', '{"attempt": 2, "error": "no space left"}']::jsonb[]`
		}
		set(0, "completed", final+failures)
		set(1, "discarded", final+failures)
		set(2, "cancelled", final)
		set(3, "retryable", failures)
		f.Exec("DELETE FROM river_job WHERE id = CAST(? AS integer)", open[4].Ref)
		ends := f.wantEnds(q, open, "success 2 ", "failed 2 no space left", "cancelled 2 ", " 2 no space left", "-")
		f.wantFinished(ends, open[1])
		if gone := q.(sink.EndTeller).Gone(); gone != sink.EndUnknown {
			t.Errorf("gone is %s", gone)
		}
	})
}

func TestGraphileTellsHowJobsEnd(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	open := f.accept(q, f.tasks(4)...)
	set := func(i int, columns string) {
		f.Exec(`UPDATE graphile_worker._private_jobs SET `+columns+` WHERE id = CAST(? AS bigint)`, open[i].Ref)
	}
	set(0, "attempts = 25, last_error = 'no space left'")
	set(1, "attempts = 3, last_error = 'a blip'")
	set(2, "attempts = 25, locked_at = now(), locked_by = 'w'")
	f.Exec("DELETE FROM graphile_worker._private_jobs WHERE id = CAST(? AS bigint)", open[3].Ref)
	f.wantEnds(q, open, "failed 25 no space left", " 3 a blip", " 25 ", "-")
	for given, want := range map[string]sink.EndState{"": sink.EndGone, "failed": sink.EndFailed, "unknown": sink.EndUnknown} {
		if gone := f.queue(queues.GraphileWorker{Gone: given}).(sink.EndTeller).Gone(); gone != want {
			t.Errorf("with %q gone is %s, want %s", given, gone, want)
		}
	}
}

func TestPgBossTellsHowJobsEnd(t *testing.T) {
	f := pgBossFixture(t)
	q := f.queue(queues.PgBoss{})
	open := f.accept(q, f.tasks(6)...)
	set := func(i int, columns string) {
		f.Exec(`UPDATE pgboss.job SET `+columns+` WHERE id = CAST(? AS uuid)`, open[i].JID)
	}
	const began = `started_on = '2026-03-04 05:06:08+00', retry_count = 1, `
	set(0, began+`state = 'completed', completed_on = '2026-03-04 05:06:09.5+00', output = '{"rows": 7}'`)
	set(1, began+`state = 'failed', completed_on = '2026-03-04 05:06:09.5+00', output = '{"name": "Error", "message": "no space left", "stack": "..."}'`)
	set(2, began+`state = 'failed', output = '{"value": {"message": "job timed out"}}'`)
	set(3, began+`state = 'retry', output = '{"value": "a blip"}'`)
	set(4, `state = 'cancelled'`)
	f.Exec("DELETE FROM pgboss.job WHERE id = CAST(? AS uuid)", open[5].JID)
	ends := f.wantEnds(q, open, "success 2 ", "failed 2 no space left", "failed 2 job timed out", " 2 a blip", "cancelled 0 ", "-")
	f.wantFinished(ends, open[0])
}

func TestPGMQTellsHowJobsEnd(t *testing.T) {
	f := pgmqFixture(t)
	q := f.queue(queues.PGMQ{Queue: "mail"})
	open := f.accept(q, f.tasks(2)...)
	_, message, _ := strings.Cut(open[0].Ref, "/")
	f.Exec("SELECT pgmq.archive('mail', ARRAY[CAST(? AS bigint)])", message)
	f.wantEnds(q, open, "-", " 0 ")
	if gone := q.(sink.EndTeller).Gone(); gone != sink.EndGone {
		t.Errorf("gone is %s", gone)
	}
}

func TestSQLTellsHowJobsEnd(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		if _, tells := f.queue(k).(sink.EndTeller); tells {
			t.Error("a queue without the statement tells how jobs end")
		}
		k.Outcome = `SELECT o.ref, CASE WHEN l.done IS NOT NULL THEN 'failed' END AS outcome, l.done AS finished, 3 AS attempts, 'no space left' AS error
			FROM nextrun_open AS o JOIN legacy AS l ON l.id = CAST(o.ref AS integer)`
		q := f.queue(k)
		open := f.accept(q, f.tasks(3)...)
		f.Exec("UPDATE legacy SET done = '2026-03-04 05:06:09.500000' WHERE id = CAST(? AS integer)", open[0].Ref)
		f.Exec("DELETE FROM legacy WHERE id = CAST(? AS integer)", open[2].Ref)
		ends := f.wantEnds(q, open, "failed 3 no space left", " 3 no space left", "-")
		f.wantFinished(ends, open[0])
		if gone := q.(sink.EndTeller).Gone(); gone != sink.EndUnknown {
			t.Errorf("gone is %s", gone)
		}
	})
}

// A statement that cannot tell how jobs end is a warning about the queue, which takes jobs
// nevertheless.
func TestSQLWithABadOutcome(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		for statement, want := range map[string]string{
			`SELECT ref, nonsense AS outcome FROM nextrun_open`:                                                  "nonsense",
			`SELECT ref FROM nextrun_open`:                                                                       "it must return outcome",
			`SELECT 'success' AS outcome FROM nextrun_open`:                                                      "it must return ref or jid",
			`DELETE FROM legacy WHERE jid IN (SELECT jid FROM nextrun_open) RETURNING jid, 'success' AS outcome`: "it writes",
		} {
			k.Outcome = statement
			q := f.queue(k)
			report := f.report(q)
			if len(report.Problems) > 0 || len(report.Warnings) != 1 ||
				!strings.HasPrefix(report.Warnings[0], "how its jobs end cannot be read: outcome: ") || !strings.Contains(report.Warnings[0], want) {
				t.Errorf("%s: %+v", statement, report)
			}
		}
		f.accept(f.queue(k), f.tasks(1)...)
	})
}
