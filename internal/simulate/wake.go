package simulate

import (
	"container/heap"
	"time"
)

// wake is when something happens: with a jid its job ends, or begins and then has a time to
// end; else the task is looked at.
type wake struct {
	at     time.Time
	of     *state
	jid    string
	begins time.Time // a job begins, which ends then
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
