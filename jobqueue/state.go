package jobqueue

import "slices"

// State is where a job is in its life:
//
//	waiting -> scheduled -> running -> success | failed | cancelled | stuck
//	stuck -> waiting
//
// Waiting, scheduled, running and stuck jobs are pending; the others are final.
type State string

// The states, as the table has them.
const (
	Waiting   State = "waiting"   // an executor may claim it, not before the time in retry and within its limits
	Scheduled State = "scheduled" // claimed, not begun: of other executors, or about to be cancelled
	Running   State = "running"   // claimed: its handler runs, or waits for a place
	Stuck     State = "stuck"     // an attempt failed; it waits again at the time in retry
	Success   State = "success"   // final: the handler returned no error
	Failed    State = "failed"    // final: no retry is left, the error is permanent, or its worker was lost too often
	Cancelled State = "cancelled" // final: somebody asked for it
)

// States lists all states, pending ones first.
func States() []State {
	return []State{Waiting, Scheduled, Running, Stuck, Success, Failed, Cancelled}
}

// Final reports whether a job of this state never changes again by itself.
// States of other executors count as pending.
func (s State) Final() bool { return s == Success || s == Failed || s == Cancelled }

// Valid reports whether s is one of [States].
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Word is the state as people read it: a job that is stuck is retrying.
func (s State) Word() string {
	if s == Stuck {
		return "retrying"
	}
	return string(s)
}

// StateOf reads a state as the table has it, or as people read it. It does not check it.
func StateOf(text string) State {
	if text == Stuck.Word() {
		return Stuck
	}
	return State(text)
}

// Turned is what the end of a job meant for its periodic task; empty: nothing.
type Turned string

// What a job may mean for its task.
const (
	Failing   Turned = "failing"   // it is the first that failed after a success
	Recovered Turned = "recovered" // it is the first that succeeded after failures
)
