package store_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// Scheduler, executor and relay go on with a database that replaces theirs, and
// with one that is made anew after theirs was deleted.
func TestServicesFollowTheSQLiteFile(t *testing.T) {
	t.Parallel()
	url := storetest.SQLiteURL(t)
	path := strings.TrimPrefix(url, "sqlite:")
	backup := strings.TrimPrefix(storetest.SQLiteURL(t), "sqlite:")
	fill(t, path, "old")
	fill(t, backup, "restored")
	done := serveAll(t, url)
	for _, step := range []struct {
		what   string
		change func() error
	}{
		{"old", func() error { return nil }},
		{"restored", func() error { return os.Rename(backup, path) }},
		{"anew", func() error {
			err := os.Remove(path)
			fill(t, path, "anew")
			return err
		}},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		waiting := map[string]bool{"job " + step.what: true, "event " + step.what: true}
		for end := time.After(storetest.Patience); len(waiting) > 0; {
			select {
			case what := <-done:
				delete(waiting, what)
			case <-end:
				t.Fatalf("after %s of the database %q nothing was seen of %v", storetest.Patience, step.what, waiting)
			}
		}
	}
}

// fill makes a database with a task and a topic that tell its name, each second.
func fill(t *testing.T, path, name string) {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+path, store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	outer, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, outer)
	if _, err := outer.ExecContext(t.Context(), `INSERT INTO periodic_task (id, task, timer, sink, group_, args)
		VALUES ('j', 'tell', 'every 1s', 'job', 'g', $1), ('e', 'tell', 'every 1s', 'event', $2, '{}')`,
		`"`+name+`"`, name); err != nil {
		t.Fatal(err)
	}
}

// serveAll runs a scheduler, an executor and a relay, and returns what they do.
func serveAll(t *testing.T, url string) <-chan string {
	t.Helper()
	done := make(chan string, 1000)
	db, err := store.Open(t.Context(), url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	executor, err := executor.New(db.Jobs(), executor.Config{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	executor.Register("tell", jobqueue.JSON(func(_ context.Context, _ *jobqueue.JobContext, name string) error {
		done <- "job " + name
		return nil
	}))
	relay, err := relay.New(db.Outbox(), outbox.OneByOne(
		func(_ context.Context, e outbox.Event) error { done <- "event " + e.Topic; return nil }),
		relay.Config{Name: "r", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "s", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []func(context.Context) error{executor.Start, relay.Start, scheduler.Start} {
		if err := start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, stop := range []func(context.Context) error{scheduler.Stop, relay.Stop, executor.Stop} {
			if err := stop(context.Background()); err != nil {
				t.Error(err)
			}
		}
		closed(t, db)
	})
	return done
}

// A file that is new to all is opened by any number of processes at once: one makes it a WAL database, which locks out
// the others for a moment.
func TestManyOpenANewSQLiteFileAtOnce(t *testing.T) {
	t.Parallel()
	for range 300 {
		url := "sqlite:" + filepath.Join(t.TempDir(), "nextrun.db")
		results := make(chan error)
		for range 16 {
			go func() {
				db, err := store.Open(context.Background(), url, store.Options{Create: true})
				if err == nil {
					err = errors.Join(err, db.Close())
				}
				results <- err
			}()
		}
		for range 16 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	}
}
