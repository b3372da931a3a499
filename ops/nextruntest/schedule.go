package nextruntest

import (
	"log/slog"
	"testing"
	"time"

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
	// Submitters are the queues that are not nextrun's own, as in [scheduler.Config].
	Submitters periodic.Submitters
	// Logger takes the scheduler's log lines, with the time of the host. nil: they are
	// dropped.
	Logger *slog.Logger
}

// Schedule is a set of tasks and a scheduler, whose clock the test moves. Its methods end
// the test if they fail. It is not safe for concurrent use; tests that run in parallel have
// one each.
type Schedule struct {
	t     testing.TB
	start time.Time
	run   *machine
	tasks *periodic.Tasks
}

// New returns a schedule without tasks.
func New(t testing.TB, o Options) *Schedule {
	t.Helper()
	if o.Start.IsZero() {
		o.Start = Start
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	run := &machine{}
	t.Cleanup(func() {
		if err := run.close(); err != nil {
			t.Errorf("nextruntest: close the database: %v", err)
		}
	})
	if err := run.open(t.Context(), t.TempDir(), o); err != nil {
		t.Fatalf("nextruntest.New: %v", err)
	}
	return &Schedule{t: t, start: o.Start, run: run, tasks: periodic.NewTasks(run.db.Tasks())}
}

// DB is the database, for what this package has no method for.
func (s *Schedule) DB() *store.DB { return s.run.db }

// Now is where the clock stands.
func (s *Schedule) Now() time.Time { return s.run.now() }

// Exec adds, changes or deletes rows, as people do who manage tasks with SQL. Parameters
// are ?1, ?2 and so on.
func (s *Schedule) Exec(query string, args ...any) {
	s.t.Helper()
	s.must("run the statement", s.run.edit(s.t.Context(), func() error {
		_, err := s.run.pool.ExecContext(s.t.Context(), query, args...)
		return err
	}))
}

// Add adds tasks from Go.
func (s *Schedule) Add(tasks ...periodic.Task) {
	s.t.Helper()
	for _, task := range tasks {
		s.must("add a task", s.run.edit(s.t.Context(), func() error { return s.tasks.Add(s.t.Context(), task) }))
	}
}

// Advance moves the clock on while the scheduler runs, from one tick to the next, so that
// each is decided at its time.
func (s *Schedule) Advance(d time.Duration) {
	s.t.Helper()
	s.must("advance", s.run.advance(s.t.Context(), s.Now().Add(d)))
}

// AdvanceTo is [Schedule.Advance] up to a time. Ticks at that time are decided.
func (s *Schedule) AdvanceTo(at string) {
	s.t.Helper()
	s.must("advance", s.run.advance(s.t.Context(), s.time(at)))
}

// Outage moves the clock on while no scheduler runs. After it, the scheduler starts and
// decides what was missed.
func (s *Schedule) Outage(d time.Duration) {
	s.t.Helper()
	s.must("get over the outage", s.run.outage(s.t.Context(), s.Now().Add(d)))
}

// FinishJobs lets the unfinished jobs of tasks end with success. Without ids: of all tasks.
func (s *Schedule) FinishJobs(ids ...string) {
	s.t.Helper()
	if len(ids) == 0 {
		ids = []string{""}
	}
	for _, id := range ids {
		_, err := s.run.end(s.t.Context(), id, jobqueue.Success, "")
		s.must("finish jobs", err)
	}
}

// Fail lets the unfinished jobs of a task fail, for good, with a message. It is a mistake
// if there is none.
func (s *Schedule) Fail(id, message string) {
	s.t.Helper()
	n, err := s.run.end(s.t.Context(), id, jobqueue.Failed, message)
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
