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
	Skipped   Decision = "skipped"   // a job of the task was not final, or a pause, a calendar or a person left it out
	Late      Decision = "late"      // its deadline had passed
	Missed    Decision = "missed"    // nobody decided it in time, and catchup leaves it out
)

// Cause is why a tick was decided as it was, as a code. A tick that was submitted at its time has none.
type Cause string

// The causes.
const (
	CauseOverlap    Cause = "overlap"    // skipped: a job of the task had not ended
	CauseWaited     Cause = "waited"     // skipped: it waited for a job, and a later tick took its place
	CauseSuperseded Cause = "superseded" // skipped: a later tick replaced its job
	CausePaused     Cause = "paused"     // skipped: the task was paused
	CauseCalendar   Cause = "calendar"   // skipped: a calendar leaves it out
	CausePerson     Cause = "person"     // skipped: somebody left it out
	CauseClosed     Cause = "closed"     // skipped: the task was disabled, or outside its starts and ends
	CauseRefused    Cause = "refused"    // skipped: its queue refused the job for good
	CauseDeadline   Cause = "deadline"   // late: its deadline had passed
	CauseNewest     Cause = "newest"     // missed: a newer tick is decided in its place
	CauseGrace      Cause = "grace"      // missed: it was older than grace
	CauseLimit      Cause = "limit"      // missed: catchup_limit leaves it out
	CauseByHand     Cause = "by_hand"    // submitted: somebody ran the task, or set nextrun
	CauseBackfill   Cause = "backfill"   // submitted: nextrun task backfill did it
	CauseHook       Cause = "hook"       // submitted: a hook of another task did it
)

// Tick is a row of the table periodic_tick: one elapse of a task's timer that
// fell due, or several in a row that were missed.
//
// The table has one row for a task and a due time at most: that makes one job of one tick.
// Nothing advances before it is committed: nextrun moves in the transaction that submits the
// job. A plan is made without a lock, and written only if the row is as it was read. The database's clock judges whether a task is due.
type Tick struct {
	TaskID   string
	Due      time.Time // of missed ones the oldest
	Decision Decision
	Cause    Cause     // why
	Reason   string    // what a person or another program said about it
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

// TickKey identifies a tick.
type TickKey struct {
	TaskID string
	Due    time.Time
}

// Key returns the tick's key.
func (t Tick) Key() TickKey { return TickKey{t.TaskID, t.Due} }
