package simulate

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Span is a time from From up to, but not including, To.
type Span struct{ From, To time.Time }

// Options say what to replay.
type Options struct {
	Span
	// Outages are times in which no scheduler runs. Jobs go on.
	Outages []Span
	// Takes says how long a job runs that begins at a time. nil: no time at all. A job
	// begins when it is submitted.
	Takes func(t *periodic.Task, begins time.Time) time.Duration
	// Open are the jobs that have not ended at From, by the ids of their tasks, the one
	// submitted last at the end.
	Open map[string][]Open
	// Queued are the due times of ticks that wait at From, by the ids of their tasks, oldest
	// first.
	Queued map[string][]time.Time
	// Tick, if not nil, is called with each tick when it is decided: a queued one twice.
	Tick func(periodic.Tick)
	// MaxTicks bounds the ticks. 0: 20 million.
	MaxTicks int
}

// Open is a job that has not ended when a simulation begins.
type Open struct {
	sink.Pending
	Begins time.Time // of its attempt that runs, or of the next one: one that waits for a retry begins later
	Ends   time.Time
}

// ErrTooMany is returned when there are more than MaxTicks ticks.
var ErrTooMany = errors.New("too many ticks")

// Run replays tasks. They begin with the plan of their row, as the scheduler would: what is
// overdue is decided at once, and what has no plan gets one. Tasks that are not enabled, or whose timer cannot be read, have no ticks. Run
// changes the tasks' Due and NextRun in its own copy only.
func Run(ctx context.Context, tasks []periodic.Task, o Options) (*Result, error) {
	if !o.From.Before(o.To) {
		return nil, fmt.Errorf("the simulation ends at %s, which is not after its start %s", o.To, o.From)
	}
	if o.MaxTicks == 0 {
		o.MaxTicks = 20_000_000
	}
	s := &simulation{Options: o, result: newResult(o.Span)}
	for i := range tasks {
		s.add(tasks[i])
	}
	heap.Init(&s.wakes)
	for n := 0; len(s.wakes) > 0; n++ {
		if n%1000 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w := heap.Pop(&s.wakes).(wake)
		if !w.at.Before(o.To) {
			continue
		}
		if s.take(w); s.ticks > o.MaxTicks {
			return nil, fmt.Errorf("%w: more than %d up to %s; simulate fewer days or tasks", ErrTooMany, o.MaxTicks, w.at.Format(time.DateTime))
		}
	}
	s.result.finish(s.states)
	return s.result, nil
}

// state is a task as it is in the simulation.
type state struct {
	periodic.Task
	timer   calendar.Schedule
	counts  *Task
	pending []sink.Pending // those submitted last at the end; none if the task overlaps
	queued  []time.Time
}

// newest is the job that the scheduler would find in the way of a tick.
func (st *state) newest() *sink.Pending {
	if len(st.pending) == 0 {
		return nil
	}
	return &st.pending[len(st.pending)-1]
}

// succeed ends what failures have led to: jobs of a simulation succeed.
func (st *state) succeed() {
	st.Failures.Count = 0
	if st.Pause.AfterFailures() {
		st.Pause = periodic.Pause{}
	}
}

type simulation struct {
	Options
	states []*state
	wakes  wakes
	ticks  int
	jobs   int
	result *Result
}

func (s *simulation) add(t periodic.Task) {
	st := &state{Task: t, counts: &Task{ID: t.ID, Counts: map[periodic.Decision]int{}}}
	s.states = append(s.states, st)
	for _, open := range s.Open[t.ID] {
		s.wait(st, open.Pending)
		begins := later(open.Begins, s.From)
		s.wakes = append(s.wakes, wake{at: begins, of: st, jid: open.JID, begins: later(open.Ends, begins)})
	}
	if !t.Enabled {
		st.counts.Problem = "not enabled"
		return
	}
	st.counts.Problem = t.Blocked()
	timer, err := calendar.ParseAt(t.Timer, t.Anchor())
	if err != nil {
		st.counts.Problem = err.Error()
		return
	}
	st.timer = timer
	st.queued = append(st.queued, s.Queued[t.ID]...)
	st.counts.Counts[periodic.Queued] = len(st.queued)
	s.await(st, s.From)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// wait notes a job that is in the way of the task's other ticks.
func (s *simulation) wait(st *state, job sink.Pending) {
	if !st.Overlapping() {
		st.pending = append(st.pending, job)
	}
}

// take lets happen what a wake is for: a job begins or ends, or the scheduler looks at a task.
func (s *simulation) take(w wake) {
	st := w.of
	switch {
	case !w.begins.IsZero():
		for i := range st.pending {
			if st.pending[i].JID == w.jid {
				st.pending[i].State, st.pending[i].Started = jobqueue.Running, w.at
			}
		}
		s.run(st, w.jid, w.at, w.begins)
	case w.jid != "":
		s.result.end()
		before := len(st.pending)
		st.pending = slices.DeleteFunc(st.pending, func(p sink.Pending) bool { return p.JID == w.jid })
		st.succeed()
		if len(st.pending) < before && len(st.queued) > 0 {
			s.wakeAt(wake{at: w.at, of: st})
		}
	default:
		ready := len(st.queued) > 0 && len(st.pending) == 0 && !st.Pause.At(w.at)
		if !st.NextRun.After(w.at) || st.Unplanned() || ready {
			s.decide(st, w.at)
		} // else its plan has moved on since
	}
}

// decide lets the scheduler look at a task.
func (s *simulation) decide(st *state, now time.Time) {
	at := now
	if st.Deadline != nil && *st.Deadline <= 0 {
		at = now.Add(time.Microsecond) // no scheduler is so fast that nothing is late
	}
	plan := decide.Decide(&st.Task, st.timer, decide.Facts{Now: at, Pending: st.newest(), Queued: append([]time.Time(nil), st.queued...)}, s.newID)
	moved := !plan.NextRun.Equal(st.NextRun) || len(plan.Ticks)+len(plan.Settled) > 0
	st.Due, st.NextRun, st.Pace.Count = plan.Due, plan.NextRun, plan.TickCount
	if !plan.ProbeUntil.IsZero() {
		st.Pause.Until = plan.ProbeUntil
	}
	if plan.Problem != "" {
		st.counts.Problem = plan.Problem
	}
	if plan.Cancel != "" {
		s.cancel(st, plan.Cancel, now)
	}
	for _, tick := range plan.Settled {
		st.unqueue(tick.Due)
		st.counts.Counts[periodic.Queued]--
		s.count(st, tick, now)
	}
	for _, tick := range plan.Ticks {
		s.count(st, tick, now)
	}
	if moved || st.NextRun.After(now) {
		s.await(st, now)
	}
}

// await notes when the scheduler has to look at a task again.
func (s *simulation) await(st *state, now time.Time) {
	if st.NextRun.Before(s.To) {
		s.wakeAt(wake{at: st.NextRun, of: st})
	}
	switch {
	case len(st.queued) == 0 || len(st.pending) > 0:
	case !st.Pause.At(now):
		s.wakeAt(wake{at: now, of: st})
	case !st.Pause.Until.IsZero():
		s.wakeAt(wake{at: st.Pause.Until, of: st})
	}
}

// cancel ends the job that a later tick replaces.
func (s *simulation) cancel(st *state, jid string, now time.Time) {
	st.pending = slices.DeleteFunc(st.pending, func(p sink.Pending) bool { return p.JID == jid })
	for i, w := range s.wakes {
		if w.of == st && w.jid == jid {
			heap.Remove(&s.wakes, i)
			if w.begins.IsZero() {
				st.counts.Busy -= w.at.Sub(now)
				s.result.end()
			}
			return
		}
	}
}

// count notes what became of a tick.
func (s *simulation) count(st *state, tick periodic.Tick, now time.Time) {
	s.ticks++
	if s.Tick != nil {
		s.Tick(tick)
	}
	st.counts.add(tick)
	switch tick.Decision {
	case periodic.Queued:
		st.queued = append(st.queued, tick.Due)
	case periodic.Submitted:
		s.begin(st, tick, now)
	}
}

// begin lets a job run.
func (s *simulation) begin(st *state, tick periodic.Tick, now time.Time) {
	var takes time.Duration
	if s.Takes != nil {
		takes = max(s.Takes(&st.Task, now), 0)
	}
	s.result.submit(now)
	s.wait(st, sink.Pending{JID: tick.JID, State: jobqueue.Running, Due: tick.Due, Started: now})
	s.run(st, tick.JID, now, now.Add(takes))
}

// run lets an attempt of a job run.
func (s *simulation) run(st *state, jid string, now, ends time.Time) {
	s.result.begin(now)
	st.counts.Busy += ends.Sub(now)
	heap.Push(&s.wakes, wake{at: ends, of: st, jid: jid})
}

func (s *simulation) newID(time.Time) string {
	s.jobs++
	return strconv.Itoa(s.jobs)
}

func (st *state) unqueue(due time.Time) {
	for i, q := range st.queued {
		if q.Equal(due) {
			st.queued = append(st.queued[:i], st.queued[i+1:]...)
			return
		}
	}
}
