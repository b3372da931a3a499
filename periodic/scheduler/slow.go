package scheduler

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/aside"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/search"
)

// A batch takes as long as its slowest row. One that takes much longer than others of its size is
// searched: its tasks are taken in the background, in ever smaller parts.

// slow finds the tasks that are slow, and takes them in the background. The loop owns it.
type slow struct {
	search     search.Searcher
	lanes      int // how many parts are taken at a time; 1: all writers wait for them
	tasks      *aside.Tasks
	exclude    func() taskdb.Exclude
	background *background
	clock      *clock
	delayed    *delayed
	observe    func(Event)

	usual     time.Duration // how long each row takes, on average
	notBefore time.Time     // by the host's clock: no part is taken before
}

const (
	// slowBatch is the least that a slow batch takes, slowPart a part of one.
	slowBatch = 500 * time.Millisecond
	slowPart  = 100 * time.Millisecond
	// leastRow is how long a row may take at least, usually.
	leastRow = 100 * time.Microsecond
	// someRows is for how many rows a transaction with a single one takes as long, about.
	someRows = 20
	// muchLonger is how many times the usual is slow.
	muchLonger = 10
	// paceMemory is over about how many batches the average goes.
	paceMemory = 8
	// slowLanes is how many parts are taken at a time, where writers do not wait for each other.
	slowLanes = 4
)

// isSlow reports whether a transaction with so many rows took much longer than usual, and at
// least so long.
func (s *slow) isSlow(rows int, took, least time.Duration) bool {
	return took > least+muchLonger*max(s.usual, leastRow)*time.Duration(rows+someRows)
}

// learn notes how long a batch took. A slow one counts for little.
func (s *slow) learn(rows int, took time.Duration) {
	each := min(took/time.Duration(rows+someRows), muchLonger*max(s.usual, leastRow))
	s.usual += (each - s.usual) / paceMemory
}

// submitted judges how long a batch took, and has its tasks searched if that was too long.
func (s *slow) submitted(done *batch.Outcome) {
	rows := len(done.Kept)
	isSlow := s.isSlow(rows, done.Took, slowBatch)
	if s.learn(rows, done.Took); isSlow {
		when := s.nextDue(done)
		s.tell(s.tasks.Suspect(when, time.Now()), done.Took)
	}
}

// nextDue is when the tasks of a batch fall due next, by their keys and the host's clock.
func (s *slow) nextDue(done *batch.Outcome) map[string]time.Time {
	when := make(map[string]time.Time, len(done.Kept))
	for _, p := range done.Kept {
		when[p.Task.ID] = time.Now().Add(s.clock.until(p.NextRun))
	}
	return when
}

// tell notes that a batch took so long that others may have waited for it, and names the task that is
// slow; empty: it is not known yet.
func (s *slow) tell(culprit string, took time.Duration) {
	if s.delayed.tookLong(culprit, took); culprit != "" {
		s.observe(Event{Kind: EventSlow, ID: culprit, Took: took})
	}
}

// next is when to take the next part; zero: there is none, or no lane for it.
func (s *slow) next() time.Time {
	next := s.tasks.SlowNext()
	if next.IsZero() || s.background.slowWorkers >= s.lanes {
		return time.Time{}
	} else if next.Before(s.notBefore) {
		return s.notBefore
	}
	return next
}

// take takes, in the background, a part that is due.
func (s *slow) take(soft, _ context.Context) error {
	p, exclude := s.tasks.SlowDue(time.Now()), s.exclude()
	keys := p.Keys // the part is the loop's
	s.background.slowWorkers++
	s.background.run(func() search.Findings { return s.search.Timed(soft, p, keys, exclude) })
	return nil
}

// took applies the findings of a part.
func (s *slow) took(f search.Findings) {
	s.background.slowWorkers--
	when, took, isSlow, now := map[string]time.Time{}, time.Duration(0), false, time.Now()
	if len(f.Committed) == 1 && len(f.SetAside) == 0 {
		done := &f.Committed[0].Outcome
		when, took = s.nextDue(done), done.Took
		isSlow = s.isSlow(len(done.Kept), took, slowPart)
	}
	if s.lanes == 1 {
		s.notBefore = now.Add(took)
	}
	culprit, over := s.tasks.Took(f.Slow, when, isSlow, now)
	if isSlow {
		s.tell(culprit, took)
	}
	if over != "" {
		s.delayed.over(over)
		s.observe(Event{Kind: EventSlow, ID: over})
	}
}
