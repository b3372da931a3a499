// Package batch takes tasks that are due, or soon will be, to recorded ticks and submitted jobs: it reads them with what
// their decisions need, has each decide, and writes the plans at their time, over rows that are as they were read. It
// declares what that needs of a database ([Tx]).
//
// A [Batch] is values. A [Processor] has no state; any goroutine may call it. Package scheduler says when to read and to
// write, and what happens if a batch fails.
package batch

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Batch is a number of tasks, and what to do with them.
type Batch struct {
	Now   time.Time     // by the database's clock: when the tasks were read; zero: the plans were made ahead, at different times
	Took  time.Duration // how long the reading took
	Plans []periodic.Plan
}

// IsAhead reports whether the plans were made before their time.
func (b *Batch) IsAhead() bool { return b.Now.IsZero() }

// ReadyAt is when all tasks of a batch are due.
func (b *Batch) ReadyAt() time.Time { return b.Plans[len(b.Plans)-1].Task.NextRun }

// Read reads tasks and what the decisions on them need, and decides: for those that are not due yet, as if they were.
// It locks nothing: a plan whose row is not as it was read comes to nothing.
func (c Processor) Read(ctx context.Context, w Wanted) (Batch, error) {
	var f facts
	began := time.Now()
	err := c.View(ctx, func(tx Tx) error { return c.read(ctx, tx, w, &f) })
	if err != nil {
		return Batch{}, fmt.Errorf("read tasks: %w", err)
	}
	return Batch{f.now, time.Since(began), c.decide(&f)}, nil
}

// read reads tasks, and what the decisions on them need.
func (c Processor) read(ctx context.Context, tx Tx, w Wanted, f *facts) (err error) {
	f.now = tx.Now()
	if f.tasks, err = tx.Tasks(ctx, w); err != nil || len(f.tasks) == 0 {
		return err
	}
	if f.pending, err = c.pendingJobs(ctx, tx, f); err != nil {
		return fmt.Errorf("look for pending jobs: %w", err)
	}
	return c.recordedTicks(ctx, tx, f)
}

// facts is what the decisions on a batch depend on.
type facts struct {
	now     time.Time
	tasks   []periodic.Task
	pending map[string]sink.Pending
	ended   map[string]time.Time
	decided map[string][]periodic.Range
}

// at is the time for which a task is decided.
func (f *facts) at(t *periodic.Task) time.Time {
	if t.NextRun.After(f.now) {
		return t.NextRun
	}
	return f.now
}

// pendingJobs asks the queues for the pending jobs of the tasks for which
// they matter.
func (c Processor) pendingJobs(ctx context.Context, tx Tx, f *facts) (map[string]sink.Pending, error) {
	trackers := map[periodic.Sink][]string{}
	for i := range f.tasks {
		t := &f.tasks[i]
		if !t.Overlapping() && !t.Unplanned() && c.Queues[t.Sink] != nil {
			trackers[t.Sink] = append(trackers[t.Sink], t.ID)
		}
	}
	pending := map[string]sink.Pending{}
	for sink, ids := range trackers {
		found, err := c.Queues[sink].Pending(ctx, tx.DBTX(), ids)
		if err != nil {
			return nil, &SinkError{sink, err}
		}
		maps.Copy(pending, found)
	}
	return pending, nil
}

// recordedTicks reads what is recorded of tasks that are behind: some of their due ticks may be
// decided already, and some may have waited for the end of a job.
func (c Processor) recordedTicks(ctx context.Context, tx Tx, f *facts) (err error) {
	var waited []string
	var since []periodic.TickKey
	for i := range f.tasks {
		t := &f.tasks[i]
		timer, err := c.timers.of(t)
		if err != nil {
			continue
		}
		if from, ok := t.Behind(timer, f.at(t)); ok {
			since = append(since, periodic.TickKey{TaskID: t.ID, Due: from})
		}
		if t.Queues() && !t.Unplanned() && t.NextRun.Before(f.now) {
			waited = append(waited, t.ID)
		}
	}
	if len(since) > 0 {
		if f.decided, err = tx.Ticks(ctx, since); err != nil {
			return err
		}
	}
	if len(waited) > 0 {
		f.ended, err = tx.Ended(ctx, waited)
	}
	return err
}

// decide makes the plans of a batch.
func (c Processor) decide(b *facts) []periodic.Plan {
	plans := make([]periodic.Plan, len(b.tasks))
	for i := range b.tasks {
		t := &b.tasks[i]
		timer, err := c.timers.of(t)
		if err != nil {
			plans[i] = t.Unplannable(err)
			continue
		}
		f := periodic.Facts{
			Now: b.at(t), Ended: b.ended[t.ID], Decided: b.decided[t.ID],
			Worker: c.Worker, Most: max(1, periodic.MaxBatchTicks/len(b.tasks)),
		}
		if p, ok := b.pending[t.ID]; ok {
			f.Pending = &p
		}
		plans[i] = t.Decide(timer, f, t.JobIDs(c.Queues[t.Sink]))
		if plans[i].Problem == "" {
			plans[i].Problem = queueProblem(t, c.Queues[t.Sink])
		}
	}
	return plans
}

// queueProblem is what is wrong with a task's sink, or with its overlap there; empty: nothing. queue is nil if
// the scheduler does not know the sink.
func queueProblem(t *periodic.Task, queue periodic.Queue) string {
	switch {
	case queue == nil:
		return UnknownSink(t.Sink)
	case t.Overlap == periodic.OverlapReplace && !queue.Cancels():
		return fmt.Sprintf("%soverlap replace: the queue %q cannot cancel jobs, so ticks wait for the end of the job instead", periodic.WarningPrefix, t.Sink)
	}
	return ""
}

// UnknownSink is the problem of a task whose sink the scheduler does not know. The task
// keeps its plan: a scheduler that knows the sink submits its jobs.
func UnknownSink(sink periodic.Sink) string {
	return fmt.Sprintf("sink %q: the scheduler has no queue of that name; add it to the section queues of its configuration, or set sink to another queue; "+
		"where one scheduler leads, that one needs it: nextrun lock release --force lets another one lead", sink)
}

// UnknownOverlap is the problem of a task whose policy only a newer version of nextrun knows: those schedule it.
func UnknownOverlap(overlap periodic.Overlap) string {
	return fmt.Sprintf("overlap is %q, which this version of nextrun does not know: it leaves the task to a newer one; start that, or set overlap to skip, queue, replace or allow", overlap)
}

// maxTimers bounds the number of parsed timers that are kept.
const maxTimers = 10_000

// timers remembers parsed timers. It is safe for concurrent use.
type timers struct {
	mu    sync.Mutex
	known map[timerKey]parsedTimer
}

type timerKey struct {
	timer  string
	anchor time.Time // of intervals
}

type parsedTimer struct {
	schedule calendar.Schedule
	err      error
}

// of returns the parsed timer of a task. Only intervals depend on the anchor.
func (m *timers) of(t *periodic.Task) (calendar.Schedule, error) {
	key := timerKey{timer: t.Timer}
	if isInterval(t.Timer) {
		key.anchor = t.Anchor()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	parsed, ok := m.known[key]
	if !ok {
		parsed.schedule, parsed.err = calendar.ParseAt(t.Timer, t.Anchor())
		if m.known == nil || len(m.known) >= maxTimers {
			m.known = map[timerKey]parsedTimer{}
		}
		m.known[key] = parsed
	}
	return parsed.schedule, parsed.err
}

// isInterval reports whether a timer may be an interval, which begins with "every".
func isInterval(timer string) bool {
	text := strings.TrimSpace(timer)
	return len(text) >= 5 && strings.EqualFold(text[:5], "every")
}
