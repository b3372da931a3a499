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
// timer cannot be read, have none.
func Preview(tasks []Task, now, until time.Time) iter.Seq[Upcoming] {
	return func(yield func(Upcoming) bool) {
		futures := &earliestFirst{}
		for i := range tasks {
			if f, ok := tasks[i].planned(now); ok && f.at.NextRun.Before(until) {
				*futures = append(*futures, f)
			}
		}
		heap.Init(futures)
		for futures.Len() > 0 {
			f := (*futures)[0]
			if !yield(f.at) {
				return
			}
			if f.next(now); f.at.Due.IsZero() || !f.at.NextRun.Before(until) {
				heap.Pop(futures)
			} else {
				heap.Fix(futures, 0)
			}
		}
	}
}

// next goes on to the next tick; of those that are due already the others are
// missed, unless the task makes up for them all.
func (f *future) next(now time.Time) {
	if f.at.Task.Catchup != CatchupAll && f.at.Due.Before(now) {
		f.goTo(now)
		return
	}
	f.advance()
}

// planned is the future of a task as its row says, from now on. It reports
// whether there is any.
func (t *Task) planned(now time.Time) (*future, bool) {
	f, err := t.future()
	if err != nil || !t.Enabled {
		return nil, false
	}
	switch {
	case t.unplanned():
		f.goTo(now)
	case t.manual():
		f.at.Due, f.at.NextRun = t.NextRun, t.NextRun
	default:
		f.at.Due, f.at.NextRun = t.Due, t.NextRun
	}
	if f.at.Due.IsZero() || !f.at.NextRun.Before(Never) {
		return nil, false
	}
	return f, true
}

// earliestFirst is a heap of futures.
type earliestFirst []*future

func (h earliestFirst) Len() int { return len(h) }

func (h earliestFirst) Less(i, j int) bool {
	a, b := h[i].at, h[j].at
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
