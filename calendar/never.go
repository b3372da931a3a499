package calendar

import "time"

// Never is the timer of a task that has no times: people, programs or hooks run it.
const Never = "never"

// untimed is the schedule of Never.
type untimed struct{}

// Next returns the zero time.
func (untimed) Next(time.Time) time.Time { return time.Time{} }

// Prev returns the zero time.
func (untimed) Prev(time.Time) time.Time { return time.Time{} }

// String returns Never.
func (untimed) String() string { return Never }
