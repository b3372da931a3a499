package queues_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// legacy is a queue of somebody's own on both databases.
func legacy(t *testing.T, run func(t *testing.T, f *fixture, k queues.SQL)) {
	t.Helper()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		f := newFixture(t, d.Database)
		k := queues.SQL{
			Enqueue: `INSERT INTO legacy (name, args, due, jid, rank) SELECT handler, args, due, jid, 10 - priority FROM nextrun_batch WHERE true
				ON CONFLICT DO NOTHING RETURNING id AS ref, jid;`,
			Pending: `SELECT o.ref, CASE WHEN l.taken IS NULL THEN 'waiting' ELSE 'running' END AS state, l.taken AS started
				FROM nextrun_open AS o JOIN legacy AS l ON l.id = CAST(o.ref AS integer) WHERE l.done IS NULL`,
			Cancel: `UPDATE legacy SET done = (SELECT max(now) FROM nextrun_open)
				WHERE id IN (SELECT CAST(ref AS integer) FROM nextrun_open) AND taken IS NULL AND done IS NULL RETURNING id AS ref`,
		}
		id := "integer PRIMARY KEY"
		if f.Kind == storetest.Postgres {
			id = "serial PRIMARY KEY"
			k.Notify = `SELECT pg_notify('legacy', queue) FROM nextrun_queues`
		}
		f.Exec(`CREATE TABLE legacy (id ` + id + `, name varchar(10) CHECK (length(name) < 10), args text, due timestamp, jid text UNIQUE,
			rank integer, taken timestamp, done timestamp)`)
		run(t, f, k)
	})
}

func TestSQLTakesABatch(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		q := f.queue(k)
		jobs := f.tasks(1000)
		jobs[7].Priority = 10
		open := f.accept(q, jobs...)
		f.Want(`{"n": 7} report 0`, "SELECT args || ' ' || name || ' ' || rank FROM legacy WHERE id = CAST(? AS integer)", open[7].Ref)
		f.Want(1, "SELECT count(DISTINCT due) FROM legacy WHERE due = '2026-03-04 05:06:07.089000'")
		f.Exec("UPDATE legacy SET taken = '2026-03-04 05:06:09.500000' WHERE id = CAST(? AS integer)", open[0].Ref)
		f.Exec("UPDATE legacy SET done = '2026-03-04 05:06:09.500000' WHERE id = CAST(? AS integer)", open[1].Ref)
		f.Exec("DELETE FROM legacy WHERE id = CAST(? AS integer)", open[2].Ref)
		want := []sink.Pending{{JID: open[0].JID, State: jobqueue.Running, Due: due, Started: time.Date(2026, 3, 4, 5, 6, 9, 5e8, time.UTC)},
			{JID: open[3].JID, State: jobqueue.Waiting, Due: due}}
		got := f.pending(q, open[:4]...)
		slices.SortFunc(got, func(a, b sink.Pending) int { return strings.Compare(a.JID, b.JID) })
		if !slices.Equal(got, want) {
			t.Errorf("pending %+v, want %+v", got, want)
		}
		wantSame(t, f.cancel(q, open[:4]...), open[3].JID)
		f.Want("2026-03-04 06:06:07.089", "SELECT "+f.text("done")+" FROM legacy WHERE id = CAST(? AS integer)", open[3].Ref)
	})
}

func TestSQLPassesTheTraceOn(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		f.Exec("ALTER TABLE legacy ADD COLUMN trace text")
		k.Enqueue = `INSERT INTO legacy (name, jid, trace) SELECT handler, jid, coalesce(traceparent, 'none') FROM nextrun_batch`
		k.Pending = `SELECT jid FROM nextrun_open WHERE EXISTS (SELECT 1 FROM legacy AS l WHERE l.jid = nextrun_open.jid AND done IS NULL)`
		k.Cancel, k.Notify = "", ""
		jobs := f.tasks(2)
		jobs[0].Traceparent = traceparent
		f.accept(f.queue(k), jobs...)
		f.Want(traceparent, "SELECT trace FROM legacy WHERE jid = ?", jobs[0].JID)
		f.Want("none", "SELECT trace FROM legacy WHERE jid = ?", jobs[1].JID)
	})
}

// TestSQLWithoutColumns: a statement that returns nothing takes all jobs, by our id.
func TestSQLWithoutColumns(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		k.Enqueue = `INSERT INTO legacy (name, jid) SELECT handler, jid FROM nextrun_batch`
		k.Pending = `SELECT jid FROM nextrun_open WHERE EXISTS (SELECT 1 FROM legacy AS l WHERE l.jid = nextrun_open.jid AND done IS NULL)`
		k.Cancel, k.Notify = "", ""
		q := f.queue(k)
		open := f.accept(q, f.tasks(3)...)
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

func TestSQLRefusesRowsAlone(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		k.Enqueue = strings.Replace(k.Enqueue, "WHERE true", "WHERE group_ <> 'away'", 1)
		q := f.queue(k)
		jobs := f.tasks(300)
		jobs[3].Task = "far too long"
		jobs[250].Group = "away"
		done := f.sortOut(q, jobs...)
		want := map[string]string{jobs[3].JID: "CHECK constraint failed", jobs[250].JID: "returned no row"}
		if f.Kind == storetest.Postgres {
			want[jobs[3].JID] = "value too long for type character varying(10)"
		}
		wantRefused(t, done, want)
		f.Want(298, "SELECT count(*) FROM legacy")
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

func TestSQLNotifies(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		if f.Kind == storetest.SQLite {
			f.Exec("CREATE TABLE bell (queue text)")
			k.Notify = "INSERT INTO bell SELECT queue FROM nextrun_queues"
			f.accept(f.queue(k), f.tasks(5)...)
			f.Want(1, "SELECT count(*) FROM bell WHERE queue = 'mail'")
			return
		}
		heard := f.hear("legacy")
		f.accept(f.queue(k), f.tasks(5)...)
		if got := heard(1); !slices.Equal(got, []string{"mail"}) {
			t.Errorf("heard %q", got)
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
		"table": {
			func(k *queues.SQL) {
				k.Cancel = "DELETE FROM legacies WHERE id IN (SELECT CAST(ref AS integer) FROM nextrun_open)"
			},
			`cancel: relation "legacies" does not exist`, `cancel: no such table: legacies`,
		},
		"notify": {
			func(k *queues.SQL) { k.Notify = "NOTIFY legacy" },
			`notify: syntax error at or near "NOTIFY"`, `notify: near "NOTIFY": syntax error`,
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

func TestSQLWithoutTheRight(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		if f.Kind == storetest.SQLite {
			return
		}
		role := f.role()
		f.Exec("REVOKE ALL ON legacy FROM " + role.name)
		f.task("t", "{}")
		role.unusable(role.queue(k), "permission denied for table legacy")
	})
}

// A column that is not there any more is missing in the queue's table, not in one of
// nextrun's.
func TestSQLWithARenamedColumn(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		q := f.queue(k)
		f.accept(q, f.task("one", "{}"))
		f.Exec("ALTER TABLE legacy RENAME COLUMN rank TO place")
		err := f.update(func(ctx context.Context, tx jobqueue.DBTX) error {
			return q.(prober).Probe(ctx, tx)
		})
		if err == nil || !strings.Contains(err.Error(), "rank") || strings.Contains(err.Error(), "migrate up") || errors.Is(err, sqldb.ErrNoSchema) {
			t.Errorf("%v; want one that names the column, and does not blame the tables of nextrun", err)
		}
	})
}
