package nextruntest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/verify"
	"github.com/nextrun/nextrun/periodic"
)

// maxTicks is how many ticks of a task a test may look at.
const maxTicks = 1_000_000

// Ticks are the recorded ticks of a task, the earliest first; with an empty id, of all tasks.
func (s *Schedule) Ticks(id string) []periodic.Tick {
	s.t.Helper()
	ticks, err := s.tasks.Ticks(s.t.Context(), periodic.TickFilter{TaskID: id, Limit: maxTicks})
	s.must("read the ticks", err)
	slices.SortFunc(ticks, func(a, b periodic.Tick) int {
		if c := a.Due.Compare(b.Due); c != 0 {
			return c
		}
		return strings.Compare(a.TaskID, b.TaskID)
	})
	return ticks
}

// Jobs are the jobs of a task in nextrun's own queue, the first submitted first; with an
// empty id, of all tasks.
func (s *Schedule) Jobs(id string) []jobqueue.Job {
	s.t.Helper()
	jobs, err := jobqueue.NewQueue(s.run.db.Jobs()).List(s.t.Context(), jobqueue.Filter{Tracker: id, Limit: maxTicks, WithArgs: true})
	s.must("read the jobs", err)
	slices.SortStableFunc(jobs, func(a, b jobqueue.Job) int { return a.Submitted.Compare(b.Submitted) })
	return jobs
}

// RequireSubmitted checks that a task got jobs for ticks at these times, in this order, and
// for no others.
func (s *Schedule) RequireSubmitted(id string, due ...string) {
	s.t.Helper()
	want := make([]string, len(due))
	for i, text := range due {
		want[i] = moment(s.time(text))
	}
	got := []string{}
	for _, tick := range s.Ticks(id) {
		if tick.Decision == periodic.Submitted {
			got = append(got, moment(tick.Due))
		}
	}
	if !slices.Equal(got, want) {
		s.t.Fatalf("task %q: jobs were submitted for\n  %s\nwant\n  %s\n%s", id, list(got), list(want), s.history(id))
	}
}

// RequireReason checks that a tick got no job, or not at once, and that the reason contains
// a text. Ticks that were missed in a row share one reason.
func (s *Schedule) RequireReason(id, due string, decision periodic.Decision, reason string) {
	s.t.Helper()
	at := s.time(due)
	for _, tick := range s.Ticks(id) {
		is := tick.Due.Equal(at) || tick.Missed > 1 && tick.Due.Before(at) && !tick.Until.Before(at)
		if is && tick.Decision == decision && strings.Contains(view.Because(tick.Cause, tick.Reason), reason) {
			return
		}
	}
	s.t.Fatalf("task %q at %s: want it %s because of %q\n%s", id, due, decision, reason, s.history(id))
}

// RequireGuarantees checks what nextrun guarantees, on the rows that are there: `nextrun
// check --guarantees` as a test. It belongs at the end of a test that writes to nextrun's tables itself.
func (s *Schedule) RequireGuarantees() {
	s.t.Helper()
	report, err := verify.Run(s.t.Context(), s.run.db, verify.Options{Since: s.start, Lease: time.Hour})
	s.must("verify", err)
	var lines []string
	for _, f := range report.Findings {
		if f.Level != verify.Violation {
			continue
		}
		lines = append(lines, strings.TrimSpace(f.Guarantee+" "+f.Check)+": "+f.Text)
		for _, row := range f.Rows {
			lines = append(lines, "  "+row.About+": "+row.Detail)
		}
	}
	lines = append(lines, report.Undone...)
	if len(lines) > 0 {
		s.t.Fatalf("the guarantees were not kept:\n%s", strings.Join(lines, "\n"))
	}
}

// shown is how many ticks a failed check shows.
const shown = 20

// history is what became of the last ticks of a task, for the message of a failed check.
func (s *Schedule) history(id string) string {
	s.t.Helper()
	ticks := s.Ticks(id)
	var b strings.Builder
	fmt.Fprintf(&b, "it is %s; ticks of the task: %d", moment(s.Now()), len(ticks))
	if len(ticks) > shown {
		fmt.Fprintf(&b, ", the last %d of them", shown)
		ticks = ticks[len(ticks)-shown:]
	}
	b.WriteString("\n")
	for _, tick := range ticks {
		b.WriteString("  " + line(tick) + "\n")
	}
	if task, err := s.tasks.Get(s.t.Context(), id); err != nil {
		fmt.Fprintf(&b, "  there is no such task now: %v\n", err)
	} else if task.Problem != "" {
		fmt.Fprintf(&b, "  problem: %s\n", task.Problem)
	}
	return b.String()
}

// line is a tick in the message of a failed check.
func line(t periodic.Tick) string {
	text := moment(t.Due) + "  " + t.TaskID + "  " + string(t.Decision)
	switch {
	case t.Missed < 0:
		text += "  very many until " + moment(t.Until)
	case t.Missed > 1:
		text += fmt.Sprintf("  %d until %s", t.Missed, moment(t.Until))
	}
	return strings.TrimRight(text+"  "+view.Because(t.Cause, t.Reason), " ")
}

func list(lines []string) string {
	if len(lines) == 0 {
		return "none"
	}
	return strings.Join(lines, "\n  ")
}

func moment(t time.Time) string {
	if t.Nanosecond() != 0 {
		return t.UTC().Format("2006-01-02 15:04:05.999999")
	}
	return t.UTC().Format(time.DateTime)
}
