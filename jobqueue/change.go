package jobqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
)

// attemptsToChange is how often a change is tried when the job moves on
// between reading and writing it.
const attemptsToChange = 10

// errMoved is returned when a job moved on each time.
var errMoved = errors.New("the job keeps changing; try again")

// Cancel cancels a job. A job that waits or is stuck is cancelled at once. If an
// executor has it, Cancel asks it to stop, which takes effect within a second.
// It returns the state in which it leaves the job: [Cancelled], [Scheduled] or
// [Running]. Errors: [ErrFinal], [ErrForeign].
func (q *Queue) Cancel(ctx context.Context, jid string) (State, error) {
	return update(ctx, q, func(tx QueueTx) (State, error) { return cancel(ctx, tx, jid) })
}

func cancel(ctx context.Context, tx QueueTx, jid string) (State, error) {
	var after State
	err := change(ctx, tx, "cancel", jid, func(job Job) (Change, error) {
		after = job.State
		switch {
		case job.State.Final():
			return Change{}, ErrFinal
		case job.State == Waiting || job.State == Stuck && !job.Retry.IsZero():
			after = Cancelled
			return Change{To: Cancelled}, nil
		case job.Foreign():
			return Change{}, ErrForeign
		}
		return Change{}, nil
	})
	return after, err
}

// Retry puts a final job back to waiting, with its retries counted from 0. It
// returns [ErrNotFinal], or an [*OverlapError] that names the job of the same
// tracker that is pending, where the two must not overlap.
func (q *Queue) Retry(ctx context.Context, jid string) error {
	return q.store.Update(ctx, func(tx QueueTx) error { return retry(ctx, tx, jid) })
}

func retry(ctx context.Context, tx QueueTx, jid string) error {
	return change(ctx, tx, "retry", jid, func(job Job) (Change, error) {
		if !job.State.Valid() {
			return Change{}, ErrForeign
		}
		if !job.State.Final() {
			return Change{}, ErrNotFinal
		}
		if job.Single && job.Tracker != "" {
			other, err := tx.PendingSingle(ctx, job.Tracker)
			if err != nil {
				return Change{}, err
			}
			if other != "" {
				return Change{}, &OverlapError{Tracker: job.Tracker, JID: other}
			}
		}
		return Change{To: Waiting, Note: "waits again, as asked for; attempts count from 1; it had ended: " + end(job)}, nil
	})
}

// end describes, for the log, how a job had ended: its row does not say that any more.
func end(job Job) string {
	said := string(job.State)
	if !job.Finished.IsZero() {
		said += ", at " + job.Finished.UTC().Format(time.DateTime) + " UTC"
	}
	if !job.Started.IsZero() && !job.Finished.IsZero() {
		said += fmt.Sprintf(", attempt %d, which took %s", job.Attempt(), text.Exact(job.Finished.Sub(job.Started)))
	}
	if result := strings.Join(strings.Fields(job.Result), " "); result != "" { // a line of the log is one line
		said += ": " + text.Clean(result, 1000)
	}
	return said
}

// change reads a job, decides and writes, and begins again if the job has moved
// on in between.
func change(ctx context.Context, tx QueueTx, verb, jid string, decide func(Job) (Change, error)) error {
	for range attemptsToChange {
		job, err := tx.Job(ctx, jid)
		if err != nil {
			return fmt.Errorf("%s job %s: %w", verb, jid, err)
		}
		c, err := decide(job)
		if err != nil {
			return fmt.Errorf("%s job %s: %w", verb, jid, err)
		}
		done, err := tx.Change(ctx, job, c)
		if err != nil {
			return fmt.Errorf("%s job %s: %w", verb, jid, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("%s job %s: %w", verb, jid, errMoved)
}

// Prune deletes final jobs and their logs, in transactions of a thousand, and
// returns how many it has deleted, also when it fails or ctx ends.
func (q *Queue) Prune(ctx context.Context, filter PruneFilter) (int, error) {
	for _, state := range filter.States {
		if !state.Final() {
			return 0, fmt.Errorf("prune jobs: state %s is not final; use success, failed or cancelled", state)
		}
	}
	if filter.OlderThan < 0 || filter.OlderThan > 200*365*24*time.Hour {
		return 0, fmt.Errorf("prune jobs: jobqueue.PruneFilter.OlderThan is %s; use 0 to 200 years", filter.OlderThan)
	}
	deleted, err := q.store.Prune(ctx, filter)
	if err != nil {
		return deleted, fmt.Errorf("prune jobs: %w", err)
	}
	return deleted, nil
}
