package store_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/neighbors"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// acme is the queue of a program that has a table job of its own, without jid: the id of
// a job is that of its task.
type acme struct{ db *storetest.Database }

func (q acme) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) (done []sink.Submission, err error) {
	for _, j := range jobs {
		if _, err := tx.ExecContext(ctx, q.db.SQL.Rebind("INSERT INTO job (what, open) VALUES (?, 1)"), j.Task); err != nil {
			return nil, err
		}
		done = append(done, sink.Submission{JID: j.JID, Ref: j.Task})
	}
	return done, nil
}

func (q acme) Pending(ctx context.Context, tx jobqueue.DBTX, open []sink.Open) (list []sink.Pending, err error) {
	for _, o := range open {
		var n int
		err := tx.QueryRowContext(ctx, q.db.SQL.Rebind("SELECT count(*) FROM job WHERE what = ? AND open = 1"), o.Ref).Scan(&n)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			list = append(list, sink.Pending{JID: o.JID, State: jobqueue.Running})
		}
	}
	return list, nil
}

// A program that feeds a queue of its own, with a table job that is not nextrun's, needs
// none of nextrun's tables of jobs. Every use of them says so.
func TestWithoutTheTablesOfJobs(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		d.Exec("CREATE TABLE job (what varchar(100), open integer)")
		db, err := store.Open(t.Context(), d.URL, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, db)
		if _, err := migrations.Of(db).UpWithoutJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		submitters := periodic.Submitters{"acme": acme{d}}
		tasks := periodic.NewTasks(db.Tasks()).With(submitters)
		add := func(id string, sink periodic.Sink, overlap periodic.Overlap) {
			task := periodic.NewTask(id, id, "every 1s")
			task.Sink, task.Overlap, task.Catchup = sink, overlap, periodic.CatchupAll
			if err := tasks.Add(t.Context(), task); err != nil {
				t.Fatal(err)
			}
		}
		add("queued", "acme", periodic.OverlapQueue)
		add("skipped", "acme", periodic.OverlapSkip)
		add("told", "event", periodic.OverlapAllow)
		add("nowhere", "job", periodic.OverlapSkip)

		quiet := logrus.New()
		quiet.SetOutput(io.Discard)
		s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "a", PollInterval: 100 * time.Millisecond, Logger: quiet, Submitters: submitters})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		count := func(what, query string, atLeast string) {
			t.Helper()
			storetest.Eventually(t, what, func() bool {
				return d.One("SELECT ("+query+") >= "+atLeast) == map[string]string{"postgres": "true", "sqlite": "1"}[d.Kind]
			})
		}
		count("two ticks wait", "SELECT count(*) FROM periodic_tick WHERE task_id = 'queued' AND decision = 'queued'", "2")
		d.Exec("UPDATE job SET open = 0")
		count("the first of them goes on when its job ends", "SELECT count(*) FROM job WHERE what = 'queued'", "2")
		count("others skip", "SELECT count(*) FROM periodic_tick WHERE task_id = 'skipped' AND decision = 'skipped'", "1")
		count("events are written", "SELECT count(*) FROM event_store", "2")
		count("the problem names the command", "SELECT count(*) FROM periodic_task WHERE problem LIKE '%migrate up --with job%'", "1")
		d.Want("0", "SELECT count(*) FROM periodic_tick WHERE task_id = 'nowhere' AND decision = 'skipped'")
		d.Want("0", "SELECT count(*) FROM job WHERE what = 'nowhere'")
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}

		if err := tasks.Disable(t.Context(), "nowhere"); err != nil { // to run at once
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"run now":   tasks.RunNow(t.Context(), "nowhere"),
			"submit":    submit(t, jobqueue.NewQueue(db.Jobs())),
			"list jobs": list(t, jobqueue.NewQueue(db.Jobs())),
		} {
			if !errors.Is(err, store.ErrNoJobs) || !errors.Is(err, store.ErrNoSchema) || !strings.Contains(err.Error(), "migrate up --with job") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if lacks, err := neighbors.LacksHousekeeping(t.Context(), db); err != nil || !lacks {
			t.Errorf("LacksHousekeeping = %v, %v: nobody would delete old ticks", lacks, err)
		}

		// The tables are added while the program goes on, once its own has another name.
		d.Exec("ALTER TABLE job RENAME TO acme_job")
		if _, err := migrations.Of(db).AddJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := tasks.RunNow(t.Context(), "nowhere"); err != nil {
			t.Errorf("run now with the tables of jobs: %v", err)
		}
		d.Want("1", "SELECT count(*) FROM job WHERE tracker = 'nowhere'")
	})
}

func submit(t *testing.T, q *jobqueue.Queue) error {
	_, err := q.Submit(t.Context(), jobqueue.Job{Task: "x"})
	return err
}

func list(t *testing.T, q *jobqueue.Queue) error {
	_, err := q.List(t.Context(), jobqueue.Filter{})
	return err
}

// When the queue of a program has a fault, nothing is said of the tables of jobs, which the program does without.
func TestFaultWithoutTheTablesOfJobs(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		db, err := store.Open(t.Context(), d.URL, store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, db)
		if _, err := migrations.Of(db).UpWithoutJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.Exec("INSERT INTO periodic_task (id, task, timer, sink, overlap) VALUES ('a', 'a', 'every 1s', 'acme', 'allow')")
		sinks, submitted := make(chan periodic.Sink, 100), make(chan struct{}, 100)
		aside := make(chan struct{}, 100)
		quiet := logrus.New()
		quiet.SetOutput(io.Discard)
		s, err := scheduler.New(db.Periodic(), scheduler.Config{
			Name: "a", PollInterval: 100 * time.Millisecond, Logger: quiet, Submitters: periodic.Submitters{"acme": acme{d}},
			Observe: func(e scheduler.Event) {
				switch {
				case e.Kind == scheduler.EventSink:
					sinks <- e.Sink
				case e.Kind == scheduler.EventAside:
					aside <- struct{}{}
				case e.Kind == scheduler.EventTick && e.Tick.Decision == periodic.Submitted:
					submitted <- struct{}{}
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, wait := range []chan struct{}{aside, submitted} {
			select {
			case <-wait:
			case name := <-sinks:
				t.Errorf("the sink %s is reported", name)
			case <-time.After(storetest.Patience):
				t.Fatal("the task was not set aside, or not submitted later")
			}
			if wait == aside {
				d.Exec("CREATE TABLE job (what varchar(100), open integer)")
			}
		}
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A role that may only add jobs adds them in its own transaction: what nextrun needs to
// know besides it asks on its own connection.
func TestSubmitAsARoleThatMayOnlyAddJobs(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	db, err := store.Open(t.Context(), d.URL, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, db)
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	role := "adder_" + d.One("SELECT md5(current_database())")[:12]
	d.Exec("CREATE ROLE " + role + "; GRANT SELECT, INSERT ON job TO " + role)
	defer d.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role)
	tx, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("SET LOCAL ROLE " + role); err != nil {
		t.Fatal(err)
	}
	if _, err := jobqueue.NewQueue(db.Jobs()).In(tx).Submit(t.Context(), jobqueue.Job{Task: "x"}); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}

// A tick that waits goes on although a task of the sink job, which is not there, keeps
// failing, and nothing else is due.
func TestQueuedTickWithoutTheTablesOfJobs(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		d.Exec("CREATE TABLE job (what varchar(100), open integer)")
		db, err := store.Open(t.Context(), d.URL, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, db)
		if _, err := migrations.Of(db).UpWithoutJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		const old = "'2026-01-01 00:00:00.000000'"
		d.Exec("INSERT INTO periodic_task (id, task, timer, sink) VALUES ('nowhere', 'x', 'every 1s', 'job')")
		d.Exec("INSERT INTO periodic_task (id, task, timer, sink, overlap) VALUES ('rare', 'rare', 'yearly', 'acme', 'queue')")
		d.Exec("INSERT INTO periodic_open VALUES ('rare', 'acme', 'rare', 'j', " + old + ", " + old + ")")
		d.Exec("INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('rare', " + old + ", 'queued', " + old + ")")
		d.Exec("INSERT INTO job VALUES ('rare', 1)")
		quiet := logrus.New()
		quiet.SetOutput(io.Discard)
		s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "a", PollInterval: 100 * time.Millisecond, Logger: quiet,
			Submitters: periodic.Submitters{"acme": acme{d}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		storetest.Eventually(t, "the problem names the command", func() bool {
			return d.One("SELECT count(*) FROM periodic_task WHERE problem LIKE '%migrate up --with job%'") == "1"
		})
		d.Exec("UPDATE job SET open = 0")
		storetest.Eventually(t, "the tick is submitted", func() bool {
			return d.One("SELECT count(*) FROM periodic_tick WHERE task_id = 'rare' AND decision = 'submitted'") == "1"
		})
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
