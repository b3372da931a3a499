package periodic

import (
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Decision is what became of a tick.
type Decision string

// The decisions.
const (
	Submitted Decision = "submitted" // its job, or its event, is in the queue
	Skipped   Decision = "skipped"   // a job of the task was not final, or a pause or a calendar left it out
	Late      Decision = "late"      // the task's deadline had passed
	Missed    Decision = "missed"    // nobody decided it in time, and the catchup policy leaves it out
)

// Tick is a row of the table periodic_tick: one elapse of a task's timer that
// fell due, or several in a row that were missed.
//
// The table has one row for a task and a due time at most: that makes one job of one tick.
// Nothing advances before it is committed: nextrun moves in the transaction that submits the
// job. Whoever works on a task has its row locked, and a plan that was made before is written
// only if the row is as it was read. The database's clock judges whether a task is due.
type Tick struct {
	TaskID   string
	Due      time.Time // of missed ones the oldest
	Decision Decision
	Reason   string    // in words, for people
	Missed   int       // number of missed ticks; -1: more than 10,000
	Until    time.Time // of missed ones the newest
	JID      string    // the job that it became
	Worker   string    // the scheduler that decided
	Decided  time.Time

	// Of a job in a queue that is not nextrun's own, and tells how its jobs end.
	Ended    sink.EndState // empty: it has not ended, or nobody can tell
	Finished time.Time     // when it ended or, if the queue does not tell, when that was seen
	Attempts int           // 0: the queue does not tell
	Error    string        // what its worker said, at most 1,000 characters

	Turned jobqueue.Turned // what the end of its job, in whatever queue, did to the task

}

// Result is what became of the tick's job in a queue that is not nextrun's own; zero: it has not
// ended, or nobody can tell.
func (t Tick) Result() Result {
	return Result{State: string(t.Ended), Retries: max(t.Attempts-1, 0), Finished: t.Finished, Message: t.Error}
}

// TickKey identifies a tick.
type TickKey struct {
	TaskID string
	Due    time.Time
}

// Key returns the tick's key.
func (t Tick) Key() TickKey { return TickKey{t.TaskID, t.Due} }
