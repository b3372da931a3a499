package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store"
)

// A program that writes an invoice and submits the job that sends it, in one
// transaction on its own connection. The README shows it.
func Example_transaction() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "app.db")

	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+file, store.Options{Create: true})
	must(err)
	defer db.Close()
	_, err = db.Migrator().Up(ctx)
	must(err)
	queue := jobqueue.NewQueue(db.Jobs())

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
	_, err = queue.In(tx).Submit(ctx, jobqueue.Job{Task: "send-invoice", Args: `{"invoice": "2026-001"}`})
	must(err)
	must(tx.Commit())

	jobs, err := queue.List(ctx, jobqueue.Filter{})
	must(err)
	for _, job := range jobs {
		fmt.Println(job.State, job.Task)
	}

	// Output: waiting send-invoice
}
