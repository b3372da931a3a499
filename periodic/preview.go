package periodic

import (
	"container/heap"
	"iter"
	"time"
)

// Preview returns the ticks to come of tasks, in the order in which they are
// submitted if a scheduler runs all the time and no job is in the way: from now,
// up to but not including until. The plan of each row is honoured: what is due
// already or was set by hand comes first. Tasks that are not enabled, or whose
// timer cannot be read, have none; those that are paused have none of the timer's until
// the pause ends. What calendars leave out is not among them.
func Preview(tasks []Task, now, until time.Time) iter.Seq[Upcoming] {
	return func(yield func(Upcoming) bool) {
		futures := &earliestFirst{}
		for i := range tasks {
			if f, ok := tasks[i].planned(now); ok && f.At.NextRun.Before(until) {
				*futures = append(*futures, f)
			}
		}
		heap.Init(futures)
		for futures.Len() > 0 {
			f := (*futures)[0]
			if f.At.LeftOut == "" && !yield(f.At) {
				return
			}
			if f.next(now); f.At.Due.IsZero() || !f.At.NextRun.Before(until) {
				heap.Pop(futures)
			} else {
				heap.Fix(futures, 0)
			}
		}
	}
}

// next goes to the next tick. Of several ticks that are due already, only the
// first counts and the others are missed, except with CatchupAll.
func (f *Future) next(now time.Time) {
	if f.At.Task.Catchup != CatchupAll && f.At.Due.Before(now) {
		f.GoTo(now)
	} else {
		f.Advance()
	}
	f.passPause(now)
}

// passPause goes on to the first tick that a pause does not skip.
func (f *Future) passPause(now time.Time) {
	switch p := f.At.Task.Pause; {
	case !p.At(now) || !p.At(f.At.Due):
	case p.Until.IsZero():
		f.At.Due = time.Time{}
	default:
		f.GoTo(p.Until.Add(-time.Microsecond))
	}
}

// planned is the Future of a task as its row says, from now on. It reports
// whether there is any.
func (t *Task) planned(now time.Time) (*Future, bool) {
	f, err := t.Future()
	if err != nil || !t.Enabled {
		return nil, false
	}
	switch {
	case t.Unplanned():
		f.set(f.timer.anew(now))
	case t.Manual():
		f.At.Due, f.At.NextRun = t.NextRun, t.NextRun
	default:
		f.set(t.Due)
		f.At.NextRun = t.NextRun
	}
	if !t.Manual() {
		f.passPause(now)
	}
	if f.At.Due.IsZero() || !f.At.NextRun.Before(Never) {
		return nil, false
	}
	return f, true
}

// earliestFirst is a heap of futures.
type earliestFirst []*Future

func (h earliestFirst) Len() int { return len(h) }

func (h earliestFirst) Less(i, j int) bool {
	a, b := h[i].At, h[j].At
	if !a.NextRun.Equal(b.NextRun) {
		return a.NextRun.Before(b.NextRun)
	}
	return a.Task.ID < b.Task.ID
}

func (h earliestFirst) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements [heap.Interface].
func (h *earliestFirst) Push(x any) { *h = append(*h, x.(*Future)) }

// Pop implements [heap.Interface].
func (h *earliestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
