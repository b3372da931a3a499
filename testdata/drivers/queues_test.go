package drivers_test

import (
	"context"
	"database/sql"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
)

// TestQueues feeds River's tables, and others by SQL, through drivers of programs.
func TestQueues(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) (*sql.DB, string){
		"pgx":             func(t *testing.T) (*sql.DB, string) { return viaPgx(t, pgx.QueryExecModeCacheStatement), "postgres" },
		"simple protocol": func(t *testing.T) (*sql.DB, string) { return viaPgx(t, pgx.QueryExecModeSimpleProtocol), "postgres" },
		"modernc":         func(t *testing.T) (*sql.DB, string) { return withoutCgo(t), "sqlite" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, kind := open(t)
			defer func() { _ = pool.Close() }()
			db, err := store.New(t.Context(), pool, store.Options{})
			must(t, err)
			defer func() { must(t, db.Close()) }()
			_, err = migrations.Of(db).Up(t.Context())
			must(t, err)
			for _, level := range []string{"6", "7"} {
				script, err := os.ReadFile("../../store/queues/testdata/river_" + kind + "_" + level + ".sql")
				must(t, err)
				_, err = pool.ExecContext(t.Context(), string(script))
				must(t, err)
			}
			_, err = pool.ExecContext(t.Context(), "CREATE TABLE own (jid varchar(36), args text, done integer)")
			must(t, err)
			feed(t, pool, db, queues.River{}, "JSON")
			feed(t, pool, db, queues.SQL{
				Enqueue: "INSERT INTO own (jid, args) SELECT jid, args FROM nextrun_batch RETURNING jid",
				Pending: "SELECT o.jid FROM nextrun_open AS o JOIN own ON own.jid = o.jid WHERE done IS NULL",
				Cancel:  "UPDATE own SET done = 1 WHERE jid IN (SELECT jid FROM nextrun_open) AND done IS NULL RETURNING jid",
			}, "")
			misspelt(t, db)
		})
	}
}

func viaPgx(t *testing.T, mode pgx.QueryExecMode) *sql.DB {
	config, err := pgx.ParseConfig(storetest.PostgresURL(t))
	must(t, err)
	config.DefaultQueryExecMode = mode
	return stdlib.OpenDB(*config)
}

// feed submits three jobs, one of them with args that are not JSON, and cancels one.
func feed(t *testing.T, pool *sql.DB, db *store.DB, k queues.Kind, refused string) {
	t.Helper()
	q, err := queues.Open(db, k)
	must(t, err)
	report, ok, err := queues.Check(t.Context(), q)
	if err != nil || !ok || len(report.Problems) > 0 {
		t.Fatalf("report %+v, %v", report, err)
	}
	jobs := make([]jobqueue.Job, 3)
	for i, args := range []string{`{"a": 1}`, "not JSON", `{"b": 2}`} {
		id := report.Kind + string(rune('0'+i))
		added := periodic.NewTask(id, "note", "daily")
		must(t, periodic.NewTasks(db.Tasks()).Add(t.Context(), added))
		_, err := pool.ExecContext(t.Context(), "UPDATE periodic_task SET args = '"+args+"' WHERE id = '"+id+"'")
		must(t, err)
		jobs[i] = jobqueue.Job{JID: jobqueue.NewID(), Task: "note", Group: "default", Tracker: id, Due: time.Now().UTC(), Submitted: time.Now().UTC(), Single: true}
	}
	inTx(t, pool, func(ctx context.Context, tx *sql.Tx) {
		done, err := q.Submit(ctx, tx, jobs)
		must(t, err)
		var open []sink.Open
		for _, s := range done {
			i := slices.IndexFunc(jobs, func(j jobqueue.Job) bool { return j.JID == s.JID })
			if bad := i == 1 && refused != ""; bad != (s.Refused != "") || bad && !strings.Contains(strings.ToUpper(s.Refused), refused) {
				t.Errorf("%s: job %d: %+v", report.Kind, i, s)
			} else if !bad {
				open = append(open, sink.Open{TaskID: jobs[i].Tracker, JID: s.JID, Ref: s.Ref, Due: jobs[i].Due, Submitted: jobs[i].Submitted})
			}
		}
		cancelled, err := q.(sink.Canceller).Cancel(ctx, tx, open[:1], time.Now())
		must(t, err)
		pending, err := q.Pending(ctx, tx, open)
		must(t, err)
		if !slices.Equal(cancelled, []string{open[0].JID}) || len(pending) != len(open)-1 {
			t.Errorf("%s: cancelled %v, then %d of %d are pending", report.Kind, cancelled, len(pending), len(open))
		}
	})
}

// misspelt: what the database says against a statement is found with each driver.
func misspelt(t *testing.T, db *store.DB) {
	t.Helper()
	q, err := queues.Open(db, queues.SQL{Enqueue: "INSERT INTO own (jid)\n  SELEC jid FROM nextrun_batch", Pending: "SELECT jid FROM nextrun_open"})
	must(t, err)
	report, _, err := queues.Check(t.Context(), q)
	if err != nil || len(report.Problems) != 1 || !strings.HasPrefix(report.Problems[0], "enqueue: ") || !strings.Contains(report.Problems[0], `"SELEC"`) {
		t.Errorf("report %+v, %v; want a problem with the misspelt word", report, err)
	}
}

func inTx(t *testing.T, pool *sql.DB, fn func(context.Context, *sql.Tx)) {
	t.Helper()
	tx, err := pool.BeginTx(t.Context(), nil)
	must(t, err)
	fn(t.Context(), tx)
	must(t, tx.Commit())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
