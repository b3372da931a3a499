package scheduler

import (
	"time"

	"github.com/nextrun/nextrun/internal/taskdb"
)

// The database's clock judges whether a task is due (guarantee G10). A host whose
// clock differs schedules correctly, but its log lines and its jobs use the wrong
// time. Therefore the scheduler reports the difference.

// skewThreshold: larger differences of the clocks are reported.
const skewThreshold = time.Second

// clock watches the difference between the database's clock and the host's.
type clock struct {
	reported bool

	database time.Time     // what the database's clock said ...
	host     time.Time     // ... at this time by the host's
	way      time.Duration // which is known as exactly as this
}

// clockMemory is for how long an exact measurement is better than a newer, coarser one.
const clockMemory = 10 * time.Second

// measure notes what the database's clock said between two times of the host's.
func (c *clock) measure(asked, answered, database time.Time) {
	way := answered.Sub(asked) / 2
	at := asked.Add(way)
	age := at.Sub(c.host)
	if !c.host.IsZero() && way > c.way && age < clockMemory && database.Sub(c.database.Add(age)).Abs() <= way+c.way {
		return
	}
	c.set(database, at)
	c.way = way
}

// set notes what the database's clock said.
func (c *clock) set(database, host time.Time) {
	c.database, c.host, c.way = database, host, clockSlack
}

// now is the time by the database's clock; zero if it was never read.
func (c *clock) now() time.Time {
	if c.host.IsZero() {
		return time.Time{}
	}
	return c.database.Add(time.Since(c.host))
}

// until is how far a time of the database's clock is away.
func (c *clock) until(at time.Time) time.Duration { return at.Sub(c.now()) }

// byHost is when the database's clock shows a time, by the host's; zero for zero.
func (c *clock) byHost(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return time.Now().Add(c.until(at))
}

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

// done is up to when nothing of what fell due is left, as far as this scheduler was told. It saves
// reading the entries that an old snapshot, such as that of pg_dump, keeps in the index of due tasks.
type done struct {
	upTo  time.Time // by the database's clock; zero: not known
	whole time.Time // by the host's clock: when the scheduler has looked for all
}

// lookWhole is how often the scheduler looks for all that is due, at least: it may not have been told.
const lookWhole = 10 * time.Second

// since is [taskdb.Apart.Since] of a look for due tasks.
func (d *done) since(now time.Time, poll time.Duration) time.Time {
	if now.Sub(d.whole) >= min(lookWhole, poll) {
		return time.Time{}
	}
	return d.upTo
}

// looked notes what a look has found that left out what fell due up to since.
func (d *done) looked(p *taskdb.Peek, now, since time.Time, err error) {
	if since.IsZero() {
		d.whole = now
	}
	if d.upTo = p.Now; err != nil || p.Due || !p.Marked.IsZero() || p.Now.Before(since) {
		d.forget()
	}
}

// forget has the next look find all: something was changed, or is left out no more.
func (d *done) forget() { d.upTo = time.Time{} }
