package nextruntest

import (
	"context"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/replay"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Start is the time at which the clock of a [Schedule] stands at first, unless
// [Options.Start] says another one: midnight on Thursday, 1 January 2026.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Options are what [New] may be told. The zero value is good.
type Options struct {
	// Start is where the clock stands at first. The zero time: [Start].
	Start time.Time
	// Postgres is the URL of a PostgreSQL database in which the test gets a schema of its
	// own, removed at its end. The user needs the right to create schemas. Empty: SQLite.
	Postgres string
	// Submitters are the queues that are not nextrun's own, as in [scheduler.Config].
	Submitters periodic.Submitters
	// Takes, if not nil, says how long a job runs and in which state it ends:
	// [jobqueue.Success], [jobqueue.Failed] or [jobqueue.Cancelled]. Without it, jobs run
	// until the test ends them.
	Takes func(t periodic.Task, due time.Time) (time.Duration, jobqueue.State)
	// Logger takes the scheduler's log lines, with the time of the host. nil: they are
	// dropped.
	Logger logrus.FieldLogger
}

// Schedule is a set of tasks and a scheduler, whose clock the test moves. Its methods end
// the test if they fail. It is not safe for concurrent use; tests that run in parallel have
// one each.
type Schedule struct {
	t     testing.TB
	start time.Time
	run   *replay.Replay
}

// New returns a schedule without tasks. It removes its database when the test ends.
func New(t testing.TB, o Options) *Schedule {
	t.Helper()
	if o.Start.IsZero() {
		o.Start = Start
	}
	r := replay.Options{Start: o.Start, Postgres: o.Postgres, Submitters: o.Submitters, Takes: o.Takes, Logger: o.Logger}
	if o.Postgres == "" {
		r.Dir = t.TempDir()
	}
	run, err := replay.New(t.Context(), r)
	if err != nil {
		t.Fatalf("nextruntest.New: %v", err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Errorf("nextruntest: close the database: %v", err)
		}
	})
	return &Schedule{t: t, start: o.Start, run: run}
}

// DB is the database, for what this package has no method for.
func (s *Schedule) DB() *store.DB { return s.run.DB }

// Now is where the clock stands.
func (s *Schedule) Now() time.Time { return s.run.Now() }

// Exec adds, changes or deletes rows, as people do who manage tasks with SQL. Parameters
// are $1, $2 and so on, on both databases.
func (s *Schedule) Exec(query string, args ...any) {
	s.t.Helper()
	s.must("run the statement", s.run.Exec(s.t.Context(), query, args...))
}

// Add adds tasks from Go.
func (s *Schedule) Add(tasks ...periodic.Task) {
	s.t.Helper()
	manager := periodic.NewTasks(s.run.DB.Tasks())
	for _, task := range tasks {
		s.must("add a task", s.run.Edit(s.t.Context(), func() error { return manager.Add(s.t.Context(), task) }))
	}
}

// Edit runs a function that changes tasks with the program's own code, which uses
// [Schedule.DB].
func (s *Schedule) Edit(edit func(ctx context.Context, tasks *periodic.Tasks) error) {
	s.t.Helper()
	tasks := periodic.NewTasks(s.run.DB.Tasks())
	s.must("edit", s.run.Edit(s.t.Context(), func() error { return edit(s.t.Context(), tasks) }))
}

// Advance moves the clock on while the scheduler runs, from one tick to the next, so that
// each is decided at its time.
func (s *Schedule) Advance(d time.Duration) {
	s.t.Helper()
	s.must("advance", s.run.Advance(s.t.Context(), s.Now().Add(d)))
}

// AdvanceTo is [Schedule.Advance] up to a time. Ticks at that time are decided.
func (s *Schedule) AdvanceTo(at string) {
	s.t.Helper()
	s.must("advance", s.run.Advance(s.t.Context(), s.time(at)))
}

// Outage moves the clock on while no scheduler runs. After it, the scheduler starts and
// decides what was missed.
func (s *Schedule) Outage(d time.Duration) {
	s.t.Helper()
	s.must("get over the outage", s.run.Outage(s.t.Context(), s.Now().Add(d)))
}

// FinishJobs lets the unfinished jobs of tasks end with success. Without ids: of all tasks.
func (s *Schedule) FinishJobs(ids ...string) {
	s.t.Helper()
	if len(ids) == 0 {
		ids = []string{""}
	}
	for _, id := range ids {
		_, err := s.run.End(s.t.Context(), id, jobqueue.Success, "")
		s.must("finish jobs", err)
	}
}

// Fail lets the unfinished jobs of a task fail, for good, with a message. It is a mistake
// if there is none.
func (s *Schedule) Fail(id, message string) {
	s.t.Helper()
	n, err := s.run.End(s.t.Context(), id, jobqueue.Failed, message)
	s.must("let jobs fail", err)
	if n == 0 {
		s.t.Fatalf("nextruntest: task %q has no unfinished job that could fail; move the clock to its next tick first", id)
	}
}

func (s *Schedule) must(doing string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("nextruntest: %s: %v", doing, err)
	}
}

// layouts are the forms of a time.
var layouts = []string{"2006-01-02 15:04", time.DateTime, "2006-01-02 15:04:05.999999", time.DateOnly}

func (s *Schedule) time(text string) time.Time {
	s.t.Helper()
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	s.t.Fatalf("nextruntest: %q is not a time; write it in UTC, such as 2026-03-29 01:30 or 2026-03-29 01:30:05", text)
	return time.Time{}
}
