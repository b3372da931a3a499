package month

import (
	"sync"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// Tally is what the month was made of.
type Tally struct {
	mu    sync.Mutex
	Tasks map[string]*Count // by the task's id
}

// Count is what became of a task.
type Count struct {
	Ticks    map[periodic.Decision]int // ticks, not rows: a row of missed ones stands for several
	Ends     map[jobqueue.State]int
	Attempts int
	Last     jobqueue.State // how the last job ended; empty: none has
	Result   string         // of that job
}

func newTally() *Tally { return &Tally{Tasks: map[string]*Count{}} }

// Of returns the count of a task, never nil.
func (t *Tally) Of(id string) *Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of(id)
}

func (t *Tally) of(id string) *Count {
	c := t.Tasks[id]
	if c == nil {
		c = &Count{Ticks: map[periodic.Decision]int{}, Ends: map[jobqueue.State]int{}}
		t.Tasks[id] = c
	}
	return c
}

func (t *Tally) tick(e scheduler.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(e.Task.ID).Ticks[e.Tick.Decision] += max(e.Tick.Missed, 1)
}

// attempt counts an attempt, and returns how many there were before.
func (t *Tally) attempt(id string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.of(id)
	c.Attempts++
	return c.Attempts - 1
}

func (t *Tally) end(id string, state jobqueue.State, result string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.of(id)
	c.Ends[state]++
	c.Last, c.Result = state, result
}

// Sum is how many ticks of a decision there were, of all tasks.
func (t *Tally) Sum(d periodic.Decision) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.Tasks {
		n += c.Ticks[d]
	}
	return n
}

// Ends is how many jobs ended in a state, of all tasks.
func (t *Tally) Ends(s jobqueue.State) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.Tasks {
		n += c.Ends[s]
	}
	return n
}
