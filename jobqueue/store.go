package jobqueue

import (
	"context"
	"time"
)

// Store is what an [Executor] needs of a database; the value that
// store.DB.Jobs returns is one. Every method is a transaction of its own, and
// every transition in it is fenced: it happens only to a job that still has the
// state and the worker that the caller believes. Rows that somebody else has
// locked are passed over, never waited for.
type Store interface {
	// LastGroup returns the group that the worker of this name served last,
	// empty if it never did.
	LastGroup(ctx context.Context, name string) (string, error)
	// Exchange carries out orders in one transaction, in the order of the
	// fields of [Orders].
	Exchange(ctx context.Context, orders Orders) (Report, error)
	// Beat renews the heartbeat of the worker's jobs and tells how all of the
	// named jobs stand.
	Beat(ctx context.Context, worker string, jids []string) ([]Standing, error)
	// CancelRequests lists the worker's jobs that somebody asked to cancel.
	CancelRequests(ctx context.Context, worker string) ([]string, error)
	// Recover puts jobs back to waiting whose lease has ended or whose retry is
	// due, and tells when that happens next.
	Recover(ctx context.Context, rules Rules) (Recovery, error)
	// Watch calls wake whenever jobs may have been added or cancelled, until
	// ctx ends; report is told of failures, which are retried.
	Watch(ctx context.Context, wake func(), report func(error))
}

// Orders are what a worker wants done in one transaction.
type Orders struct {
	Worker   string     // name/boot id
	Locked   bool       // somebody had one of these jobs locked lately: do not wait for it at all
	Lines    []Line     // for the job log, in order
	Progress []Progress // of running jobs
	End      []Ending   // transitions out of scheduled and running
	Begin    []Beginning
	Unheard  bool     // what an earlier claim got is not known: what the worker has but for InHand goes back to waiting
	InHand   []string // with Unheard: the worker's jobs
	Claim    Claim
}

// Empty reports whether there is nothing to do.
func (o *Orders) Empty() bool {
	return len(o.Lines)+len(o.Progress)+len(o.End)+len(o.Begin) == 0 && !o.Unheard && o.Claim.Limit == 0
}

// Line is a line of the job log.
type Line struct {
	ID      string // unique; a line that is there already is not written again
	JID     string
	Level   Level
	Message string
	Age     time.Duration // how long ago it was written
}

// Progress is how far a running job is.
type Progress struct {
	JID     string
	Percent int // 0 to 100
}

// Beginning is a transition from scheduled to running. It does not happen to a
// job that somebody asked to cancel.
type Beginning struct {
	JID  string
	Line Line // written with the transition; none if Message is empty
}

// Ending is a transition out of From, which is scheduled or running. It does
// not make a job wait or stick that somebody asked to cancel.
type Ending struct {
	JID         string
	From, To    State
	Result      string        // for the column result
	Delay       time.Duration // To is stuck: until it is tried again
	Interrupted bool          // counts as an interrupted attempt
	Lines       []Line        // written with the transition
}

// Claim asks for waiting jobs. Groups take turns; within a group the counting
// scheme chooses between high and low priority, and the oldest job goes first.
type Claim struct {
	Limit     int      // at most so many jobs; 0: no claim
	Tasks     []string // only jobs of these tasks
	Groups    []string // only jobs of these groups; none: of all
	Name      string   // the worker's name, without boot id, under which the last group is recorded; empty: it is not
	Group     string   // the group that was served last
	Phase     int      // the turn in the counting scheme: turns 0 to High-1 of each High+Low prefer high priority
	High, Low int      // the counting scheme; both at least 1
	Kinds     []Kind   // only these, which a claim just before has found; none: find out

	// Line makes the line that is written when a job begins. Jobs that nobody
	// has asked to cancel then begin with the claim: they go through scheduled to
	// running in one step. nil: all are scheduled.
	Line func(Job) Line
}

// Kind is what jobs have in common that are claimed in the order of their age.
type Kind struct {
	Group    string
	Task     string
	Priority int
}

// Report is what became of [Orders].
type Report struct {
	Begun   []string   // running now
	Ended   []string   // as ordered
	Held    []Line     // lines not written yet: somebody has the job locked
	Missed  []Standing // the other jobs of Begin and End, as they stand
	Claimed []Job      // scheduled for the worker now, or running, in the order of their turns
	Group   string     // the group served last: the next [Claim.Group]
	Phase   int        // the next [Claim.Phase]
	Kinds   []Kind     // all kinds that wait, for the next claim, if it comes soon; none: not known
}

// Standing is what the database says of a job. A job that is gone has no state.
type Standing struct {
	JID    string
	State  State
	Worker string
	Cancel bool // somebody asked to cancel it
}

// Rules are the terms on which [Store.Recover] takes jobs back.
type Rules struct {
	Lease         time.Duration // age of a heartbeat beyond which its worker is taken for dead
	MaxInterrupts int           // a job interrupted more often than that fails
	Limit         int           // at most so many jobs at once
}

// Recovery is what [Store.Recover] did.
type Recovery struct {
	Interrupted []Standing    // jobs whose lease had ended, as they stand now; Worker is who lost them
	Retried     int           // stuck jobs that wait now
	More        bool          // the limit was reached: call again
	Next        time.Duration // until the next lease ends or retry is due, if nothing changes; negative: neither
}
