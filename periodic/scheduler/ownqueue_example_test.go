package scheduler_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// workQueue is the queue of a program: workers of its own empty the table work_queue.
type workQueue struct{}

// Submit adds a row for each job. An error rolls back, and the ticks are tried again.
func (workQueue) Submit(ctx context.Context, tx sink.DBTX, jobs []sink.Job) ([]sink.Submission, error) {
	done := make([]sink.Submission, len(jobs))
	for i, job := range jobs {
		if len(job.Task) > 30 { // the tick is skipped, and the task's problem says why
			done[i] = sink.Submission{JID: job.JID, Refused: "kind takes up to 30 characters; shorten task"}
			continue
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO work_queue (id, kind, payload) VALUES ($1, $2, $3)`,
			job.JID, job.Task, job.Args)
		if err != nil {
			return nil, err
		}
		done[i] = sink.Submission{JID: job.JID, Ref: job.JID}
	}
	return done, nil
}

// Pending returns the jobs that have not ended, so that no other job of the same
// tasks is submitted meanwhile.
func (workQueue) Pending(ctx context.Context, tx sink.DBTX, open []sink.Open) ([]sink.Pending, error) {
	var pending []sink.Pending
	for _, o := range open {
		p := sink.Pending{JID: o.JID, Due: o.Due}
		err := tx.QueryRowContext(ctx, `SELECT state FROM work_queue WHERE id = $1 AND state <> 'done'`, o.Ref).Scan(&p.State)
		if err == nil {
			pending = append(pending, p)
		} else if !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	return pending, nil
}

// A program feeds a queue of its own: ticks of tasks whose sink is work become rows
// of work_queue, in the transaction that records the tick. docs/queues.md shows it.
func Example_ownQueue() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "app.db"), store.Options{Create: true})
	must(err)
	defer db.Close()
	_, err = migrations.Of(db).Up(ctx)
	must(err)
	app, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "app.db")+"?_busy_timeout=5000&_txlock=immediate")
	must(err)
	defer app.Close()
	_, err = app.ExecContext(ctx, `CREATE TABLE work_queue (id text PRIMARY KEY, kind text, payload text, state text DEFAULT 'waiting')`)
	must(err)

	submitters := periodic.Submitters{"work": workQueue{}}
	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "app", Submitters: submitters})
	must(err)
	tasks := periodic.NewTasks(db.Tasks()).With(submitters) // run now and backfill use the queue, too

	report := periodic.NewTask("report", "send-report", "Mon..Fri 07:00 Europe/Berlin")
	report.Sink, report.Args = "work", `{"to": "Ada"}`
	must(tasks.Add(ctx, report))
	must(tasks.RunNow(ctx, "report"))
	must(scheduler.RunOnce(ctx)) // or Start, which goes on

	var kind, payload string
	must(app.QueryRowContext(ctx, `SELECT kind, payload FROM work_queue`).Scan(&kind, &payload))
	fmt.Println(kind, payload)
	// Output: send-report {"to": "Ada"}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
