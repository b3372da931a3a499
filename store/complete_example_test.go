package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// A handler whose work and the end of its job are one transaction: a point is given once,
// however often the process is killed on the way.
func Example_completeTx() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "app.db")
	slog.SetLogLoggerLevel(slog.LevelError)

	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+file, store.Options{Create: true})
	must(err)
	defer db.Close()
	_, err = migrations.Of(db).Up(ctx)
	must(err)
	app, err := sql.Open("sqlite3", "file:"+file+"?_busy_timeout=5000&_txlock=immediate")
	must(err)
	defer app.Close()
	_, err = app.ExecContext(ctx, `CREATE TABLE points (name text PRIMARY KEY, sum integer NOT NULL);
		INSERT INTO points VALUES ('Ada', 0)`)
	must(err)

	done := make(chan struct{})
	work, err := executor.New(db.Jobs(), executor.Config{Name: "app"})
	must(err)
	work.Register("give-point", func(ctx context.Context, job *jobqueue.JobContext) error {
		defer close(done)
		tx, err := app.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, `UPDATE points SET sum = sum + 1 WHERE name = 'Ada'`); err != nil {
			return err
		}
		if err := jobqueue.CompleteTx(ctx, tx, job); err != nil { // another attempt has the job
			return err
		}
		return tx.Commit()
	})
	_, err = jobqueue.NewQueue(db.Jobs()).Submit(ctx, jobqueue.Job{Task: "give-point"})
	must(err)
	must(work.Start(ctx))
	<-done
	must(work.Stop(ctx))

	var sum int
	must(app.QueryRowContext(ctx, `SELECT sum FROM points`).Scan(&sum))
	fmt.Println(sum, "point")

	// Output: 1 point
}
