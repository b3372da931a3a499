package periodic

import "time"

// The database's clock judges whether a task is due (guarantee G10). A host whose
// clock differs schedules correctly, but its log lines and its jobs use the wrong
// time. Therefore the scheduler reports the difference.

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
