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

// next goes to the tick that is submitted after this one.
func (f *future) next(now time.Time) {
	decided := f.At.NextRun
	if decided.Before(now) {
		decided = now
	}
	if f.manual {
		f.manual = false
		f.goTo(decided)
	} else {
		f.advance()
	}
	f.passPause(now)
}

// keep goes on to the oldest tick that a decision at a time does not leave out as missed.
func (f *future) keep(decided time.Time) {
	newest := f.timer.NewestDue(f.At.Due, decided)
	switch kept := f.timer.OldestKept(f.At.Due, newest, decided, time.Time{}); {
	case kept.IsZero():
		f.goTo(newest)
	case kept.After(f.At.Due):
		f.goTo(kept.Add(-time.Microsecond))
	}
}

// passPause goes on to the first tick that a pause does not skip.
func (f *future) passPause(now time.Time) {
	switch p := f.At.Task.Pause; {
	case !p.At(f.At.Due) || !p.At(now) && f.At.Due.Before(p.Since):
	case p.Until.IsZero():
		f.At.Due = time.Time{}
	default:
		f.goTo(p.Until.Add(-time.Microsecond))
	}
}

// planned is the future of a task as its row says, from now on. It reports
// whether there is any.
func (t *Task) planned(now time.Time) (*future, bool) {
	f, err := t.future()
	if err != nil || !t.Enabled {
		return nil, false
	}
	f.manual = t.Manual()
	switch {
	case t.Unplanned():
		f.goTo(now)
	case f.manual:
		f.At.Due, f.At.NextRun = t.NextRun, t.NextRun
	default:
		f.set(t.Due)
		f.At.NextRun = t.NextRun
		if !t.NextRun.After(now) {
			f.keep(now)
		}
	}
	if !f.manual {
		f.passPause(now)
	}
	if f.At.Due.IsZero() || !f.At.NextRun.Before(Never) {
		return nil, false
	}
	return f, true
}

// earliestFirst is a heap of futures.
type earliestFirst []*future

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
func (h *earliestFirst) Push(x any) { *h = append(*h, x.(*future)) }

// Pop implements [heap.Interface].
func (h *earliestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
