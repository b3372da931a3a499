package jobqueue

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"github.com/nextrun/nextrun/internal/service"
)

// Job is a row of the table job. All times are UTC with microseconds; the zero
// time stands for NULL.
type Job struct {
	JID        string    // unique; [NewID] makes one
	Task       string    // names the handler
	Group      string    // groups take turns
	Args       string    // the handler's input, by convention JSON
	Subject    string    // what a person reads
	Submitted  time.Time // when it was put into the queue
	Submitter  string    // who put it there
	Priority   int       // see [PriorityLow] and [PriorityHigh]
	State      State
	Retries    int       // how often it was tried again after an error
	Interrupts int       // how often its worker died or lost it while it ran
	Progress   int       // percent
	Tracker    string    // the periodic task's id, or a name of the submitter's; empty: none
	Worker     string    // who has it, or had it last
	Started    time.Time // of the last attempt
	Finished   time.Time // when it became final
	Due        time.Time // the tick that it is for; zero if it is for none
	Single     bool      // at most one such job of a tracker is not final
	Cancel     time.Time // when cancellation was asked for
	Retry      time.Time // a waiting job does not begin before it, a stuck one is tried again then
	Result     string    // what the handler said at the end, or the error
	Limits     Limits    // of this job; what is not set, its handler and its executor say

	Traceparent string // of who submitted it, as the W3C's header has it; empty: none
}

// Foreign reports whether the job belongs to another kind of executor: its
// state is not one of [States], or it has a worker that is none of nextrun's, or is
// stuck without a time of retry. nextrun never touches such jobs.
func (j Job) Foreign() bool {
	switch j.State {
	case Scheduled, Running:
		return !service.IsWorkerID(j.Worker)
	case Stuck:
		return j.Retry.IsZero()
	}
	return !j.State.Valid()
}

// Attempt is the number of the attempt that runs or comes next: 1 for the first,
// one more after each error and each interruption.
func (j Job) Attempt() int { return j.Retries + j.Interrupts + 1 }

// NewID returns an id for a job: a UUID of version 7 (RFC 9562), so that ids
// of later jobs sort later.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// DBTX runs statements inside somebody's transaction; [*sql.Tx] and
// [*sqlx.Tx] are such.
//
// [*sqlx.Tx]: https://pkg.go.dev/github.com/jmoiron/sqlx#Tx
type DBTX = interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Compare orders jobs by priority, the higher first, then by age, the older
// first.
func (j Job) Compare(other Job) int {
	return cmp.Or(cmp.Compare(other.Priority, j.Priority), j.Submitted.Compare(other.Submitted),
		cmp.Compare(j.JID, other.JID))
}
