package periodic

import (
	"context"
	"time"
)

// Whether a task is due is judged by the database's clock (guarantee G10). A
// host whose own clock is elsewhere schedules all the same, but its log lines
// and what its jobs do by the clock are off, so it says so.

// skewTold is the difference of the clocks from which on it is told.
const skewTold = time.Second

// clock watches the difference between the database's clock and the own one.
type clock struct{ told bool }

// peek looks at the database, and compares the clocks.
func (s *Scheduler) peek(ctx context.Context) (Peek, error) {
	asked := time.Now()
	p, err := s.store.Peek(ctx)
	if err == nil {
		if skew, tell := s.clock.compare(asked, time.Now(), p.Now); tell {
			s.observe(Event{Kind: EventClock, Skew: skew})
		}
	}
	return p, err
}

// compare returns how far the database's clock is ahead, and whether to tell
// it: once, until the clocks have been together again. The answer's way may
// have taken any part of the time between question and answer.
func (c *clock) compare(asked, answered, database time.Time) (skew time.Duration, tell bool) {
	way := answered.Sub(asked) / 2
	skew = database.Sub(asked.Add(way))
	sure := skew.Abs() - way
	switch {
	case sure > skewTold && !c.told:
		c.told = true
		return skew, true
	case sure <= skewTold/2:
		c.told = false
	}
	return skew, false
}
