package simulate

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/task"
)

// DefaultMaxTicks bounds the ticks that [Run] decides.
const DefaultMaxTicks = 20_000_000

// Span is a time from From up to, but not including, To.
type Span struct{ From, To time.Time }

// Options say what to replay.
type Options struct {
	Span
	// Outages are times in which no scheduler runs. Jobs go on.
	Outages []Span
	// Takes says how long a job runs that begins at a time. nil: no time at all. A job
	// begins when it is submitted.
	Takes func(t *task.Task, begins time.Time) time.Duration
	// Tick, if not nil, is called with each tick when it is decided: a queued one twice.
	Tick func(task.Tick)
	// MaxTicks bounds the ticks. 0: [DefaultMaxTicks].
	MaxTicks int
}

// ErrTooMany is returned when there are more than MaxTicks ticks.
var ErrTooMany = errors.New("too many ticks")

// Run replays tasks. They begin with the plan of their row, or are planned anew if that is
// empty. Tasks that are not enabled, or whose timer cannot be read, have no ticks. Run
// changes the tasks' Due and NextRun in its own copy only.
func Run(ctx context.Context, tasks []task.Task, o Options) (*Result, error) {
	if !o.From.Before(o.To) {
		return nil, fmt.Errorf("the simulation ends at %s, which is not after its start %s", o.To, o.From)
	}
	if o.MaxTicks == 0 {
		o.MaxTicks = DefaultMaxTicks
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
	task.Task
	timer   calendar.Schedule
	counts  *Task
	pending *task.Pending // unless the task overlaps
	queued  []time.Time
}

type simulation struct {
	Options
	states []*state
	wakes  wakes
	ticks  int
	jobs   int
	result *Result
}

func (s *simulation) add(t task.Task) {
	st := &state{Task: t, counts: &Task{ID: t.ID, Counts: map[task.Decision]int{}}}
	s.states = append(s.states, st)
	if !t.Enabled {
		st.counts.Problem = "not enabled"
		return
	}
	timer, err := calendar.ParseAt(t.Timer, t.Anchor())
	if err != nil {
		st.counts.Problem = err.Error()
		return
	}
	st.timer = timer
	s.wakeAt(wake{at: s.From, of: st})
}

// wakeAt notes that a task is to be looked at. While no scheduler runs, that is after the
// outage.
func (s *simulation) wakeAt(w wake) {
	if w.at.Before(s.From) {
		w.at = s.From
	}
	for again := w.jid == ""; again; {
		again = false
		for _, out := range s.Outages {
			if !w.at.Before(out.From) && w.at.Before(out.To) {
				w.at, again = out.To, true
			}
		}
	}
	heap.Push(&s.wakes, w)
}

// take lets happen what a wake is for: the end of a job, or a look at a task.
func (s *simulation) take(w wake) {
	st := w.of
	if w.jid != "" {
		s.result.end()
		if st.pending == nil || st.pending.JID != w.jid {
			return
		}
		st.pending = nil
		if len(st.queued) > 0 {
			s.wakeAt(wake{at: w.at, of: st})
		}
		return
	}
	ready := len(st.queued) > 0 && st.pending == nil && !st.Pause.At(w.at)
	if st.NextRun.After(w.at) && !st.Unplanned() && !ready {
		return // its plan has moved on since
	}
	s.decide(st, w.at)
}

// decide lets the scheduler look at a task.
func (s *simulation) decide(st *state, now time.Time) {
	plan := task.Decide(&st.Task, st.timer, task.Facts{Now: now, Pending: st.pending, Queued: append([]time.Time(nil), st.queued...)}, s.newID)
	moved := !plan.NextRun.Equal(st.NextRun) || len(plan.Ticks)+len(plan.Settled) > 0
	st.Due, st.NextRun = plan.Due, plan.NextRun
	if plan.Problem != "" {
		st.counts.Problem = plan.Problem
	}
	if plan.Cancel != "" && st.pending != nil && st.pending.JID == plan.Cancel {
		s.cancel(st, now)
	}
	for _, tick := range plan.Settled {
		st.unqueue(tick.Due)
		st.counts.Counts[task.Queued]--
		s.count(st, tick, now)
	}
	for _, tick := range plan.Ticks {
		s.count(st, tick, now)
	}
	if st.NextRun.Before(s.To) && (moved || st.NextRun.After(now)) {
		s.wakeAt(wake{at: st.NextRun, of: st})
	}
	switch {
	case len(st.queued) == 0 || st.pending != nil:
	case !st.Pause.At(now):
		s.wakeAt(wake{at: now, of: st})
	case !st.Pause.Until.IsZero():
		s.wakeAt(wake{at: st.Pause.Until, of: st})
	}
}

// cancel ends the job that a later tick replaces.
func (s *simulation) cancel(st *state, now time.Time) {
	jid := st.pending.JID
	st.pending = nil
	for i, w := range s.wakes {
		if w.of == st && w.jid == jid {
			st.counts.Busy -= w.at.Sub(now)
			heap.Remove(&s.wakes, i)
			s.result.end()
			return
		}
	}
}

// count notes what became of a tick.
func (s *simulation) count(st *state, tick task.Tick, now time.Time) {
	s.ticks++
	if s.Tick != nil {
		s.Tick(tick)
	}
	st.counts.add(tick)
	switch tick.Decision {
	case task.Queued:
		st.queued = append(st.queued, tick.Due)
	case task.Submitted:
		s.begin(st, tick, now)
	}
}

// begin lets a job run.
func (s *simulation) begin(st *state, tick task.Tick, now time.Time) {
	var takes time.Duration
	if s.Takes != nil {
		takes = max(s.Takes(&st.Task, now), 0)
	}
	s.result.begin(now)
	st.counts.Busy += takes
	if !st.Overlapping() {
		st.pending = &task.Pending{JID: tick.JID, State: jobqueue.Running, Due: tick.Due, Started: now}
	}
	heap.Push(&s.wakes, wake{at: now.Add(takes), of: st, jid: tick.JID})
}

func (s *simulation) newID() string {
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

// wake is when something happens: with a jid its job ends, else the task is looked at.
type wake struct {
	at  time.Time
	of  *state
	jid string
}

// wakes is a heap, the earliest first, at the same time ends of jobs first.
type wakes []wake

func (w wakes) Len() int { return len(w) }

func (w wakes) Less(i, j int) bool {
	if !w[i].at.Equal(w[j].at) {
		return w[i].at.Before(w[j].at)
	}
	return w[i].jid != "" && w[j].jid == ""
}

func (w wakes) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push implements [heap.Interface].
func (w *wakes) Push(x any) { *w = append(*w, x.(wake)) }

// Pop implements [heap.Interface].
func (w *wakes) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}
