package periodic

import "time"

// Whether a task is due is judged by the database's clock (guarantee G10). A
// host whose own clock is elsewhere schedules all the same, but its log lines
// and what its jobs do by the clock are off, so it says so.

// skewThreshold: larger differences of the clocks are reported.
const skewThreshold = time.Second

// clock watches the difference between the database's clock and the host's.
type clock struct{ reported bool }

// compare returns how far the database's clock is ahead, and whether to report
// it: once, until the clocks have agreed again. How much of the round trip the
// reply took is unknown.
func (c *clock) compare(asked, answered, database time.Time) (skew time.Duration, report bool) {
	way := answered.Sub(asked) / 2
	skew = database.Sub(asked.Add(way))
	sure := skew.Abs() - way
	switch {
	case sure > skewThreshold && !c.reported:
		c.reported = true
		return skew, true
	case sure <= skewThreshold/2:
		c.reported = false
	}
	return skew, false
}
