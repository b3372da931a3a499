package verify_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/internal/verify"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/queues"
)

// queued is a kind of queue whose jobs verify reads, and what is done to them.
type queued struct {
	kind   queues.Kind
	on     string   // only there; empty: on both databases
	files  []string // of the tables, the name of the database is written for *
	setup  string
	twice  string // makes a second job of a tick; empty: its tables do not allow that
	again  string // makes two jobs unfinished
	delete string // empty: it does not keep jobs

	overlap string // of the task; empty: skip
}

var queuedKinds = map[string]queued{
	"river": {kind: queues.River{}, files: []string{"river_*_6", "river_*_7"},
		twice:  `INSERT INTO river_job (args, kind, max_attempts, metadata, state, finalized_at, priority) SELECT args, kind, 5, metadata, 'completed', created_at, 4 FROM river_job WHERE id = 1`,
		again:  `UPDATE river_job SET unique_key = NULL, state = 'available', finalized_at = NULL`,
		delete: `DELETE FROM river_job WHERE id <> 2`},
	"pg-boss": {kind: queues.PgBoss{}, on: storetest.Postgres, files: []string{"pgboss"}, setup: `INSERT INTO pgboss.queue (name) VALUES ('work')`,
		again:  `UPDATE pgboss.job SET state = 'created'`,
		delete: `DELETE FROM pgboss.job WHERE id = (SELECT min(id::text) FROM pgboss.job)::uuid`},
	"graphile-worker": {kind: queues.GraphileWorker{}, on: storetest.Postgres, files: []string{"graphile"},
		twice: `INSERT INTO graphile_worker._private_jobs (task_id, key, attempts, run_at) SELECT task_id, left(key, -12) || 'abcdefabcdef', 25, run_at FROM graphile_worker._private_jobs WHERE id = 1`,
		again: `UPDATE graphile_worker._private_jobs SET attempts = 0`},
	"pgmq": {overlap: "allow", kind: queues.PGMQ{}, on: storetest.Postgres, files: []string{"pgmq"}, setup: `SELECT pgmq.create('default')`,
		twice: `SELECT pgmq.send_batch('default', ARRAY[message], ARRAY[headers]) FROM pgmq.q_default WHERE msg_id = 1`},
	"sql": {kind: queues.SQL{Enqueue: `INSERT INTO mail (id) SELECT jid FROM nextrun_batch`,
		Pending: `SELECT o.jid FROM nextrun_open AS o CROSS JOIN mail AS m WHERE m.id = o.jid AND NOT m.done`},
		setup: `CREATE TABLE mail (id varchar(40) PRIMARY KEY, done boolean NOT NULL DEFAULT false)`, again: `UPDATE mail SET done = false`},
}

// end ends all jobs, so that a task can be run again.
var end = map[string]string{
	"river":           `UPDATE river_job SET state = 'completed', finalized_at = created_at`,
	"pg-boss":         `UPDATE pgboss.job SET state = 'completed'`,
	"graphile-worker": `UPDATE graphile_worker._private_jobs SET attempts = 25`,
	"pgmq":            `SELECT 1`,
	"sql":             `UPDATE mail SET done = true`,
}

// The tables of other queues are checked, too, by what each can tell.
func TestQueuesOfOthers(t *testing.T) {
	t.Parallel()
	for name, q := range queuedKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			migrated.Both(t, func(t *testing.T, d *migrated.Database) {
				if q.on != "" && q.on != d.Kind {
					return
				}
				for _, file := range q.files {
					makeTables(t, d, strings.ReplaceAll(file, "*", d.Kind))
				}
				if q.setup != "" {
					d.Exec(q.setup)
				}
				submitter, err := queues.Open(d.Store, q.kind)
				if err != nil {
					t.Fatal(err)
				}
				o := verify.Options{Queues: periodic.Submitters{"theirs": submitter}}
				newYear := sqldb.Timestamp(time.Date(time.Now().UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC))
				hour := time.Now().Add(-time.Hour)
				d.Exec(`INSERT INTO periodic_task (id, task, timer, sink, overlap, created, due, nextrun) VALUES ('report', 'work', 'yearly', 'theirs', ?, ?, ?, ?)`,
					cmp.Or(q.overlap, "skip"), sqldb.Timestamp(hour), newYear, newYear)
				tasks := periodic.NewTasks(d.Store.Tasks()).With(o.Queues)
				for _, later := range []time.Duration{time.Minute, 2 * time.Minute} {
					if err := tasks.SubmitNext(t.Context(), "report", hour.Add(later), "a test"); err != nil {
						t.Fatal(err)
					}
					d.Exec(end[name])
				}
				d.Exec(`UPDATE periodic_tick SET decided = ?`, sqldb.Timestamp(time.Now().Add(-5*time.Minute)))
				f := &fixture{Database: d}
				if r := f.verify(o); len(r.Findings) > 0 || len(r.Undone) > 0 || !strings.Contains(strings.Join(r.Checks, " "), "queue theirs") {
					t.Fatalf("before anything was done: %s", text(r))
				}
				for _, c := range []struct{ harm, want string }{
					{q.twice, "violation G1: queue theirs: "}, {q.again, "violation G3: queue theirs: "}, {q.delete, "doubt G2: queue theirs: a tick says submitted"},
				} {
					if c.harm == "" {
						continue
					}
					d.Exec(c.harm)
					if r := f.verify(o); !strings.Contains(text(r), c.want) || !strings.Contains(text(r), "report: ") || len(r.Undone) > 0 {
						t.Errorf("%s: want %q, got %s", c.harm, c.want, text(r))
					}
				}
			})
		})
	}
}

func makeTables(t *testing.T, d *migrated.Database, file string) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "..", "store", "queues", "testdata", file+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	d.Exec(strings.ReplaceAll(string(script), "SET LOCAL search_path = public;", "RESET search_path;"))
}
