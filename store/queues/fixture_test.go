package queues_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/internal/connect"
	"github.com/nextrun/nextrun/store/queues"
)

// due is the tick that the jobs of these tests are for.
var due = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)

// fixture is a database with nextrun's tables and those of another system.
type fixture struct {
	*storetest.Database

	db *sqldb.DB
}

// newFixture makes the tables that are missing, those of the other system from files
// of testdata.
func newFixture(t testing.TB, d *storetest.Database, files ...string) *fixture {
	t.Helper()
	f := &fixture{Database: d, db: open(t, d.URL)}
	if _, err := f.SQL.Exec("SELECT 1 FROM periodic_open"); err != nil {
		migrated.Up(d)
	}
	f.run(files...)
	return f
}

func open(t testing.TB, url string) *sqldb.DB {
	t.Helper()
	db, err := connect.Open(t.Context(), url, sqldb.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// queue opens a queue.
func (f *fixture) queue(k queues.Kind) sink.Submitter {
	f.Helper()
	q, err := queues.OpenIn(f.db, k)
	if err != nil {
		f.Fatal(err)
	}
	return q
}

// task adds a periodic task and returns a single job of it.
func (f *fixture) task(id, args string) jobqueue.Job {
	f.Helper()
	f.Exec(`INSERT INTO periodic_task (id, task, group_, args, timer) VALUES (?, 'report', 'mail', ?, 'daily')`, id, args)
	return jobOf(id)
}

// jobOf is a single job of a task.
func jobOf(id string) jobqueue.Job {
	return jobqueue.Job{
		JID: jobqueue.NewID(), Task: "report", Group: "mail", Submitter: "nextrun", Submitted: due.Add(time.Second),
		Tracker: id, Due: due, Single: true,
	}
}

// tasks adds the tasks t0, t1 and so on, with args that hold their number.
func (f *fixture) tasks(n int) []jobqueue.Job {
	f.Helper()
	f.Exec(`WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n + 1 < ` + strconv.Itoa(n) + `)
		INSERT INTO periodic_task (id, task, group_, args, timer) SELECT 't' || n, 'report', 'mail', '{"n": ' || n || '}', 'daily' FROM i`)
	jobs := make([]jobqueue.Job, n)
	for i := range jobs {
		jobs[i] = jobOf("t" + strconv.Itoa(i))
	}
	return jobs
}

// update runs something in a transaction that is committed.
func (f *fixture) update(fn func(ctx context.Context, tx jobqueue.DBTX) error) error {
	return f.db.Update(f.Context(), func(tx *sqldb.Tx) error { return fn(f.Context(), tx.DBTX()) })
}

// submit submits jobs in a transaction of their own.
func (f *fixture) submit(q sink.Submitter, jobs ...jobqueue.Job) ([]sink.Submission, error) {
	var done []sink.Submission
	err := f.update(func(ctx context.Context, tx jobqueue.DBTX) (err error) {
		done, err = q.Submit(ctx, tx, jobs)
		return err
	})
	return done, err
}

// accept submits jobs, all of which the queue has to take, and returns them as open
// ones.
func (f *fixture) accept(q sink.Submitter, jobs ...jobqueue.Job) []sink.Open {
	f.Helper()
	done, err := f.submit(q, jobs...)
	if err != nil {
		f.Fatal(err)
	}
	if len(done) != len(jobs) {
		f.Fatalf("%d submissions of %d jobs", len(done), len(jobs))
	}
	open := make([]sink.Open, len(jobs))
	for i, j := range jobs {
		k := slices.IndexFunc(done, func(s sink.Submission) bool { return s.JID == j.JID })
		if k < 0 || done[k].Refused != "" || done[k].Ref == "" {
			f.Fatalf("job of %s: %+v, want it accepted", j.Tracker, done[max(k, 0)])
		}
		open[i] = sink.Open{TaskID: j.Tracker, JID: j.JID, Ref: done[k].Ref, Due: j.Due, Submitted: j.Submitted}
	}
	return open
}

// pending returns those of the open jobs that are not final.
func (f *fixture) pending(q sink.Submitter, open ...sink.Open) []sink.Pending {
	f.Helper()
	var list []sink.Pending
	if err := f.update(func(ctx context.Context, tx jobqueue.DBTX) (err error) {
		list, err = q.Pending(ctx, tx, open)
		return err
	}); err != nil {
		f.Fatal(err)
	}
	return list
}

// cancel cancels open jobs and returns the ids of those that were.
func (f *fixture) cancel(q sink.Submitter, open ...sink.Open) (jids []string) {
	f.Helper()
	if err := f.update(func(ctx context.Context, tx jobqueue.DBTX) (err error) {
		jids, err = q.(canceller).Cancel(ctx, tx, open, due.Add(time.Hour))
		return err
	}); err != nil {
		f.Fatal(err)
	}
	return jids
}

type canceller interface {
	Cancel(ctx context.Context, tx jobqueue.DBTX, open []sink.Open, now time.Time) ([]string, error)
}

type prober interface {
	Probe(ctx context.Context, tx jobqueue.DBTX) error
}

// script is a file of testdata.
func (f *fixture) script(file string) string {
	f.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		f.Fatal(err)
	}
	return string(text)
}

// run runs files of testdata.
func (f *fixture) run(files ...string) {
	f.Helper()
	for _, file := range files {
		f.Exec(f.script(file))
	}
}

// unusable checks that a queue says why it cannot be used, whatever is asked of it.
func (f *fixture) unusable(q sink.Submitter, want string) {
	f.Helper()
	for what, do := range map[string]func(ctx context.Context, tx jobqueue.DBTX) error{
		"Submit": func(ctx context.Context, tx jobqueue.DBTX) error {
			_, err := q.Submit(ctx, tx, []jobqueue.Job{jobOf("t")})
			return err
		},
		"Probe": func(ctx context.Context, tx jobqueue.DBTX) error { return q.(prober).Probe(ctx, tx) },
	} {
		err := f.update(do)
		if !errors.Is(err, queues.ErrUnusable) || !strings.Contains(err.Error(), want) || errors.Is(err, sqldb.ErrNoSchema) || errors.Is(err, sqldb.ErrRefused) {
			f.Errorf("%s: %v; want %s", what, err, want)
		}
	}
	if r := f.report(q); len(r.Problems) == 0 || !strings.Contains(r.Problems[0], want) {
		f.Errorf("Check: %+v; want %s", r, want)
	}
}

// report is what Check says about a queue.
func (f *fixture) report(q sink.Submitter) queues.Report {
	f.Helper()
	r, ok, err := queues.Check(f.Context(), q)
	if err != nil || !ok {
		f.Fatal(ok, err)
	}
	return r
}

// hear begins to listen on a channel of PostgreSQL. What it
// returns waits for n notifications and returns all that came.
func (f *fixture) hear(channel string) func(n int) []string {
	f.Helper()
	l := pq.NewListener(f.URL, time.Second, time.Second, nil)
	f.Cleanup(func() { _ = l.Close() })
	if err := l.Listen(channel); err != nil {
		f.Fatal(err)
	}
	return func(n int) (got []string) {
		for len(got) < n {
			select {
			case note := <-l.Notify:
				got = append(got, note.Extra)
			case <-time.After(storetest.Patience):
				f.Fatalf("heard %q, want %d notifications", got, n)
			}
		}
		if err := l.Ping(); err != nil { // whatever was sent together has come by now
			f.Fatal(err)
		}
		for {
			select {
			case note := <-l.Notify:
				got = append(got, note.Extra)
			default:
				return got
			}
		}
	}
}

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }
