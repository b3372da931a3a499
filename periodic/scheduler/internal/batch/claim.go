package batch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Batch is a number of tasks, and what to do with them.
type Batch struct {
	Started time.Time // by the host's clock
	Now     time.Time // by the database's clock
	Plans   []decide.Plan
}

// IDs are those of the tasks.
func (b *Batch) IDs() []string {
	ids := make([]string, len(b.Plans))
	for i := range b.Plans {
		ids[i] = b.Plans[i].Task.ID
	}
	return ids
}

// ClaimError says that the tasks of a batch could not be read. The work on them has not
// begun.
type ClaimError struct{ Err error }

func (e *ClaimError) Error() string { return "claim: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ClaimError) Unwrap() error { return e.Err }

// Alone is how to treat a task that has failed before, and is tried alone.
type Alone struct {
	Why    string // the reason for ticks that could not be decided meanwhile
	Refuse error  // skip the ticks, because their jobs are refused; nil: submit them
}

// Take claims due tasks, decides and submits, in one transaction, which locks the tasks. As
// soon as the decisions are made, it calls claimed, unless nothing was due; another Take may
// begin then. If Take fails before that, it returns a [*ClaimError].
func (c Committer) Take(ctx context.Context, wait time.Duration, claim taskdb.Claim, alone Alone, claimed func(Batch)) (Outcome, error) {
	f := facts{aside: alone.Why}
	reading, begun := true, time.Now()
	done, err := c.transact(ctx, wait, func(tx taskdb.Tx, d *delivery) error {
		if err := c.read(ctx, tx, claim, &f); err != nil || len(f.tasks) == 0 {
			return err
		}
		reading = false
		b := Batch{begun, f.now, c.decide(&f)}
		if alone.Refuse != nil {
			for i := range b.Plans {
				skipPlan(&b.Plans[i], alone.Refuse)
			}
		}
		claimed(b)
		return c.write(ctx, d, b.Plans)
	})
	if err != nil && reading {
		err = &ClaimError{err}
	}
	return done, err
}

// read claims tasks, and reads what the decisions on them need.
func (c Committer) read(ctx context.Context, tx taskdb.Tx, claim taskdb.Claim, f *facts) (err error) {
	f.now, f.exclude = tx.Now(), claim.Exclude.Sinks
	if f.tasks, err = tx.Claim(ctx, claim); err != nil || len(f.tasks) == 0 {
		return err
	}
	if !f.prepare {
		given := 0
		f.tasks = slices.DeleteFunc(f.tasks, func(t periodic.Task) bool { return c.tooMany(&t, &given) })
	}
	if f.pending, err = c.pendingJobs(ctx, tx, f); err != nil {
		return fmt.Errorf("look for pending jobs: %w", err)
	}
	f.recorded, err = c.recordedTicks(ctx, tx, f)
	return err
}

// facts is what the decisions on a batch depend on.
type facts struct {
	now      time.Time
	tasks    []periodic.Task
	aside    string          // why the tasks were set aside until now
	exclude  []periodic.Sink // cannot be used: their tasks are planned only
	prepare  bool            // the tasks are not due yet
	pending  map[string]sink.Pending
	recorded taskdb.Recorded
}

// at is the time for which a task is decided.
func (f *facts) at(t *periodic.Task) time.Time {
	if f.prepare && t.NextRun.After(f.now) {
		return t.NextRun
	}
	return f.now
}

// pendingJobs asks the queues for the pending jobs of the tasks for which
// they matter.
func (c Committer) pendingJobs(ctx context.Context, tx taskdb.Tx, f *facts) (map[string]sink.Pending, error) {
	trackers := map[periodic.Sink][]string{}
	for i := range f.tasks {
		t := &f.tasks[i]
		if !t.Overlapping() && (t.Queues() || !t.Unplanned()) && c.asks(f, t) {
			trackers[t.Sink] = append(trackers[t.Sink], t.ID)
		}
	}
	pending := map[string]sink.Pending{}
	for sink, ids := range trackers {
		found, err := c.Queues[sink].Pending(ctx, tx.DBTX(), ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(pending, found)
	}
	return pending, nil
}

// recordedTicks reads the recorded ticks of a batch's tasks that matter.
func (c Committer) recordedTicks(ctx context.Context, tx taskdb.Tx, f *facts) (taskdb.Recorded, error) {
	var queued []string
	var since []periodic.TickKey
	for i := range f.tasks {
		t := &f.tasks[i]
		// The policy may have been another one when the ticks were queued.
		if (t.Queues() || t.NextRun.After(f.at(t))) && c.asks(f, t) {
			queued = append(queued, t.ID)
		}
		if from, ok := c.timers.behind(t, f.at(t)); ok {
			since = append(since, periodic.TickKey{TaskID: t.ID, Due: from})
		}
	}
	if len(queued)+len(since) == 0 {
		return taskdb.Recorded{}, nil
	}
	return tx.Ticks(ctx, queued, since)
}

// tooMany reports whether a task is beyond those whose jobs a [sink.Submitter] is given in one
// transaction. Such a task stays due. given counts the others.
func (c Committer) tooMany(t *periodic.Task, given *int) bool {
	queue := c.Queues[t.Sink]
	if queue == nil || queue.CopiesArgs() {
		return false
	}
	*given++
	return *given > maxSubmitJobs
}

// asks reports whether the queue of a task can be asked. Without that the task is
// planned only.
func (c Committer) asks(f *facts, t *periodic.Task) bool {
	_, known := c.Queues[t.Sink]
	return known && !slices.Contains(f.exclude, t.Sink)
}
