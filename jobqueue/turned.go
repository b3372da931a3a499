package jobqueue

import "strings"

// Turned is what the end of a job did to its periodic task, as the column of that name of
// periodic_tick has it; empty: nothing.
type Turned string

// What a job may do to its task. It may turn it failing and paused at once.
const (
	Failing   Turned = "failing"   // it is the first that failed after a success
	Paused    Turned = "paused"    // so many have failed in a row that the task is paused
	Recovered Turned = "recovered" // it is the first that succeeded after failures
)

// Has reports whether one is a part of t.
func (t Turned) Has(one Turned) bool { return strings.Contains(string(t), string(one)) }
