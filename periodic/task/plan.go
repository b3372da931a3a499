package task

import "time"

// Plan is what a scheduler has decided for one task.
type Plan struct {
	Task    *Task
	Due     time.Time // the next tick, or Never
	NextRun time.Time // Due and its jitter
	Problem string
	Ticks   []Tick    // to add, oldest first
	Settled []Tick    // queued ticks that are decided now
	Cancel  string    // id of a pending job to cancel (OverlapReplace)
	Manual  time.Time // the tick that a user set and that is decided here; zero: none
}
