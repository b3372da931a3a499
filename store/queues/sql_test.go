package queues_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// legacyKind is a queue of somebody's own.
func legacyKind(database string) queues.SQL {
	k := queues.SQL{
		Enqueue: `INSERT INTO legacy (name, args, due, jid, rank) SELECT handler, args, due, jid, 10 - priority FROM nextrun_batch WHERE group_ <> 'away'
			ON CONFLICT DO NOTHING RETURNING id AS ref, jid;`,
		Pending: `SELECT o.ref, CASE WHEN l.taken IS NULL THEN 'waiting' ELSE 'running' END AS state, l.taken AS started
			FROM nextrun_open AS o JOIN legacy AS l ON l.id = CAST(o.ref AS integer) WHERE l.done IS NULL`,
		Cancel: `UPDATE legacy SET done = (SELECT max(now) FROM nextrun_open)
			WHERE id IN (SELECT CAST(ref AS integer) FROM nextrun_open) AND taken IS NULL AND done IS NULL RETURNING id AS ref`,
	}
	if database == storetest.Postgres {
		k.Notify = `SELECT pg_notify('legacy', queue) FROM nextrun_queues`
	}
	return k
}

// legacyOn has its table.
func legacyOn(database string) func(t *testing.T) *fixture {
	id := map[string]string{storetest.Postgres: "serial", storetest.SQLite: "integer"}[database]
	return func(t *testing.T) *fixture {
		t.Helper()
		t.Parallel()
		f := newFixture(t, migrated.New(t, database).Database)
		f.Exec(`CREATE TABLE legacy (id ` + id + ` PRIMARY KEY, name varchar(10) CHECK (length(name) < 10), args text, due timestamp, jid text UNIQUE,
			rank integer, taken timestamp, done timestamp)`)
		return f
	}
}

// legacy runs a test with it on both databases.
func legacy(t *testing.T, run func(t *testing.T, f *fixture, k queues.SQL)) {
	t.Helper()
	for _, database := range []string{storetest.Postgres, storetest.SQLite} {
		t.Run(database, func(t *testing.T) { run(t, legacyOn(database)(t), legacyKind(database)) })
	}
}

// TestSQLWithoutColumns: a statement that returns nothing takes all jobs, by our id.
func TestSQLWithoutColumns(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		f.Exec("ALTER TABLE legacy ADD COLUMN trace text")
		k.Enqueue = `INSERT INTO legacy (name, jid, trace) SELECT handler, jid, coalesce(traceparent, 'none') FROM nextrun_batch`
		k.Pending = `SELECT jid FROM nextrun_open WHERE EXISTS (SELECT 1 FROM legacy AS l WHERE l.jid = nextrun_open.jid AND done IS NULL)`
		k.Cancel, k.Notify = "", ""
		q := f.queue(k)
		if _, tells := q.(sink.EndTeller); tells {
			t.Error("a queue without the statement tells how jobs end")
		}
		jobs := f.tasks(3)
		jobs[0].Traceparent = traceparent
		open := f.accept(q, jobs...)
		f.Want(traceparent, "SELECT trace FROM legacy WHERE jid = ?", jobs[0].JID)
		f.Want("none", "SELECT trace FROM legacy WHERE jid = ?", jobs[1].JID)
		if open[0].Ref != open[0].JID {
			t.Errorf("ref %s of job %s", open[0].Ref, open[0].JID)
		}
		f.Exec("UPDATE legacy SET done = due WHERE jid = ?", open[1].JID)
		f.Exec("UPDATE legacy SET done = CURRENT_TIMESTAMP WHERE jid = ?", open[2].JID)
		wantStates(t, f.pending(q, open...), map[string]string{open[0].JID: "waiting", open[1].JID: "waiting"})
		if _, ok := q.(canceller); ok {
			t.Error("it cancels without a statement")
		}
	})
}

// TestSQLSaysItsOwnRefusals: a statement can say why it does not take a job.
func TestSQLSaysItsOwnRefusals(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		k.Enqueue = `WITH full_ AS (SELECT jid FROM nextrun_batch WHERE group_ = 'full')
			SELECT jid, CASE WHEN jid IN (SELECT jid FROM full_) THEN 'the queue is full' END AS refused, 1 AS passing FROM nextrun_batch`
		jobs := f.tasks(2)
		jobs[1].Group = "full"
		done, err := f.submit(f.queue(k), jobs...)
		if err != nil || done[0].Ref != jobs[0].JID || done[1].Refused != "the queue is full" || !done[1].Passing {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// TestSQLKeepsDollars: on SQLite $ begins a placeholder, and paths into JSON hold one.
func TestSQLKeepsDollars(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		if f.Kind == storetest.Postgres {
			k.Enqueue = `INSERT INTO legacy (name, jid) SELECT jsonb_path_query_first(args::jsonb, '$.n')::text || $tag$ $$$tag$, jid FROM nextrun_batch`
		} else {
			k.Enqueue = `INSERT INTO legacy (name, jid) SELECT json_extract(args, '$.n') || ' $$', jid FROM nextrun_batch`
		}
		f.accept(f.queue(k), f.tasks(1)...)
		f.Want("0 $$", "SELECT name FROM legacy")
	})
}

func TestSQLSaysWhatIsWrongWithAStatement(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit             func(*queues.SQL)
		postgres, sqlite string
	}{
		"syntax": {
			func(k *queues.SQL) { k.Enqueue = "-- ours\nINSERT INTO legacy (jid)\n  SELEC jid FROM nextrun_batch" },
			`enqueue: syntax error at or near "SELEC"`, `enqueue: near "SELEC": syntax error`,
		},
		"behind an own table expression": {
			func(k *queues.SQL) {
				k.Pending = "/* é */ WITH\n x AS (SELECT * FROM nextrun_open)\nSELECT ref FROM x WHERE missing"
			},
			`pending: column "missing" does not exist`, `pending: no such column: missing`,
		},
		"pending without a job": {
			func(k *queues.SQL) { k.Pending = "SELECT due FROM nextrun_open" },
			"pending: it returns the columns due; it must return ref or jid", "pending: it returns the columns due; it must return ref or jid",
		},
	} {
		t.Run(name, func(t *testing.T) {
			legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
				c.edit(&k)
				want := c.sqlite
				if f.Kind == storetest.Postgres {
					want = c.postgres
				}
				if r := f.report(f.queue(k)); len(r.Problems) != 1 || r.Problems[0] != want {
					t.Errorf("%q, want %q", r.Problems, want)
				}
			})
		})
	}
}

func TestSQLEnqueueMustReturnTheJob(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		k.Enqueue = strings.Replace(k.Enqueue, "RETURNING id AS ref, jid", "RETURNING id", 1)
		q := f.queue(k)
		const want = "the insert returns the columns id, and jid is not among them"
		if _, err := f.submit(q, f.tasks(1)...); !errors.Is(err, queues.ErrUnusable) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
		if report := f.report(q); len(report.Problems) != 1 || !strings.Contains(report.Problems[0], want) {
			t.Errorf("the report is %+v, want %s", report, want)
		}
		f.Want(0, "SELECT count(*) FROM legacy")
	})
}

// The settings of a kind name what is wrong with them, without a database.
func TestKindsCheckTheirSettings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 129)
	for _, test := range []struct {
		kind queues.Kind
		want []string // empty: nothing is wrong
	}{
		{queues.River{}, nil},
		{queues.River{Schema: "app", Queue: "mail", MaxAttempts: 32767, Priority: 4}, nil},
		{queues.River{Schema: `a"b`, Queue: long, MaxAttempts: 32768, Priority: 5},
			[]string{`queues.River.Schema is "a\"b"; use a name`, "queues.River.Queue is", "queues.River.MaxAttempts is 32768; use 1 to 32767", "queues.River.Priority is 5; use 1 to 4"}},
		{queues.River{MaxAttempts: -1, Priority: -1}, []string{"MaxAttempts is -1", "Priority is -1"}},
		{queues.GraphileWorker{Queue: long[1:]}, nil},
		{queues.GraphileWorker{Schema: "1a", Queue: long, MaxAttempts: -1}, []string{"queues.GraphileWorker.Schema is", "Queue is", "MaxAttempts is"}},
		{queues.PgBoss{Schema: "pg-boss_2"}, nil},
		{queues.PGMQ{}, []string{"queues.PGMQ.Queue is \"\"; use the name of a queue"}},
		{queues.PgBoss{Schema: "pg boss"}, []string{`queues.PgBoss.Schema is "pg boss"`}},
	} {
		err := test.kind.Validate()
		if lines := strings.Count(fmt.Sprint(err), "\n") + 1; err != nil && lines != len(test.want) || err == nil && len(test.want) > 0 {
			t.Errorf("%+v: %v", test.kind, err)
		}
		for _, want := range test.want {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%+v: %v\n  lacks %s", test.kind, err, want)
			}
		}
	}
}

// What only PostgreSQL has is refused on SQLite.
func TestKindsOfPostgreSQLAreRefusedOnSQLite(t *testing.T) {
	t.Parallel()
	db := open(t, storetest.SQLiteURL(t))
	for _, k := range []queues.Kind{queues.River{Schema: "river"}, queues.GraphileWorker{}, queues.PgBoss{}, queues.PGMQ{Queue: "mail"}} {
		if _, err := queues.OpenIn(db, k); err == nil || !strings.Contains(err.Error(), "SQLite") {
			t.Errorf("%+v: %v, want an error", k, err)
		}
	}
}
