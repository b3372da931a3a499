// Command legacy is a worker program of a queue that somebody wrote themselves: the
// table legacy_job, on PostgreSQL or SQLite. Its interface is that of ../river.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"

	"github.com/nextrun/nextrun/testdata/consumers/report"
)

const table = `CREATE TABLE legacy_job (id varchar(64) PRIMARY KEY, due varchar(64) NOT NULL, args text NOT NULL,
	state varchar(10) NOT NULL DEFAULT 'new')`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "legacy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	url := os.Getenv("DATABASE_URL")
	path, isSQLite := strings.CutPrefix(url, "sqlite:")
	driver, source, lock := "postgres", url, " FOR UPDATE SKIP LOCKED"
	if isSQLite {
		driver, source, lock = "sqlite3", "file:"+path+"?_busy_timeout=20000&_txlock=immediate", ""
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(5)
	switch {
	case len(args) == 1 && args[0] == "migrate":
		_, err := db.ExecContext(ctx, table)
		return err
	case len(args) != 1 || args[0] != "work":
		return errors.New("usage: legacy migrate | legacy work")
	}
	wake := make(<-chan *pq.Notification) // nobody sends
	if !isSQLite {
		listener := pq.NewListener(url, time.Second, time.Second, nil)
		defer func() { _ = listener.Close() }()
		if err := listener.Listen("legacy"); err != nil {
			return err
		}
		wake = listener.Notify
	}
	w := worker{db: db, lock: lock}
	return w.work(ctx, wake)
}

type worker struct {
	db      *sql.DB
	lock    string
	running sync.WaitGroup
}

func (w *worker) work(ctx context.Context, wake <-chan *pq.Notification) error {
	poll, err := strconv.Atoi(os.Getenv("POLL_MS"))
	if err != nil {
		return fmt.Errorf("POLL_MS: %w", err)
	}
	report.Event("ready", nil)
	for ctx.Err() == nil {
		if err := w.take(); err != nil {
			return err
		}
		select {
		case <-wake:
		case <-time.After(time.Duration(poll) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	w.running.Wait()
	return nil
}

// take runs all jobs that wait.
func (w *worker) take() error {
	rows, err := w.db.Query(`UPDATE legacy_job SET state = 'busy' WHERE id IN
		(SELECT id FROM legacy_job WHERE state = 'new' ORDER BY due` + w.lock + `) RETURNING id, due, args`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, due, args string
		if err := rows.Scan(&id, &due, &args); err != nil {
			return err
		}
		w.running.Go(func() { w.run(id, strings.Replace(due, " ", "T", 1)+"Z", args) })
	}
	return rows.Err()
}

func (w *worker) run(id, due, text string) {
	var args struct{ MS int }
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		panic(err)
	}
	line := map[string]any{"due": due, "jid": id, "args": json.RawMessage(text)}
	report.Event("job", line)
	time.Sleep(time.Duration(args.MS) * time.Millisecond) // the work
	report.Event("done", line)
	if _, err := w.db.Exec(`UPDATE legacy_job SET state = 'done' WHERE id = $1`, id); err != nil {
		panic(err)
	}
}
