package scheduler

import (
	"time"
)

// clock knows the difference between the database's clock and the host's. The database's judges whether a task is due
// (guarantee G10).
type clock struct {
	database    time.Time     // what the database's clock said ...
	host        time.Time     // ... at this time by the host's
	uncertainty time.Duration // which is known as exactly as this
}

// clockMemory is for how long an exact measurement is better than a newer, coarser one.
const clockMemory = 10 * time.Second

// measure notes what the database's clock said between two times of the host's.
func (c *clock) measure(asked, answered, database time.Time) {
	way := answered.Sub(asked) / 2
	at := asked.Add(way)
	age := at.Sub(c.host)
	if !c.host.IsZero() && way > c.uncertainty && age < clockMemory && database.Sub(c.database.Add(age)).Abs() <= way+c.uncertainty {
		return
	}
	c.set(database, at)
	c.uncertainty = way
}

// set notes what the database's clock said.
func (c *clock) set(database, host time.Time) {
	c.database, c.host, c.uncertainty = database, host, clockSlack
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
