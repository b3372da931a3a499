package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// Invoice is what the handler of send-invoice gets, by jobqueue.JSON.
type Invoice struct {
	ID string `json:"invoice"`
}

// A program that writes an invoice, submits the job that sends it, and schedules
// reminders, in one transaction on its own connection. The tutorial shows it.
func Example_transaction() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "app.db")

	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+file, store.Options{Create: true})
	must(err)
	defer db.Close()
	_, err = migrations.Of(db).Up(ctx)
	must(err)
	queue, tasks := jobqueue.NewQueue(db.Jobs()), periodic.NewTasks(db.Tasks())

	app, err := sql.Open("sqlite3", "file:"+file+"?_busy_timeout=5000&_txlock=immediate")
	must(err)
	defer app.Close()
	_, err = app.ExecContext(ctx, `CREATE TABLE invoice (id text PRIMARY KEY, total integer NOT NULL)`)
	must(err)

	tx, err := app.BeginTx(ctx, nil) // app is your own *sql.DB on the same database
	must(err)
	defer tx.Rollback()
	_, err = tx.ExecContext(ctx, `INSERT INTO invoice (id, total) VALUES ($1, $2)`, "2026-001", 1200)
	must(err)
	_, err = jobqueue.Submit(ctx, queue.In(tx), "send-invoice", Invoice{ID: "2026-001"})
	must(err)
	reminder := periodic.NewTask("remind-2026-001", "remind", "Mon 09:00 Europe/Berlin")
	reminder.Args, reminder.Starts = `{"invoice": "2026-001"}`, time.Now().AddDate(0, 0, 30)
	must(tasks.In(tx).Add(ctx, reminder))
	must(tx.Commit())

	jobs, err := queue.List(ctx, jobqueue.Filter{})
	must(err)
	for _, job := range jobs {
		fmt.Println(job.State, job.Task)
	}
	reminders, err := tasks.List(ctx, periodic.TaskFilter{Task: "remind"})
	must(err)
	for _, task := range reminders {
		fmt.Println(task.ID, task.Timer)
	}

	// Output:
	// waiting send-invoice
	// remind-2026-001 Mon 09:00 Europe/Berlin
}
