package batch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// Batch is a number of tasks that carry one mark, and what to do with them. It
// does not change after Claim has made it.
type Batch struct {
	Mark  string
	Begun time.Time // by the host's clock
	Now   time.Time // by the database's clock
	Plans []task.Plan
}

// Claim marks due tasks, reads what the decisions need, commits, and decides. For
// tasks that were set aside, why says for what reason. Tasks that are not due yet are
// decided as if they were; see SubmitDue.
func (c Committer) Claim(ctx context.Context, wait time.Duration, claim backend.Claim, why string) (Batch, error) {
	begun := time.Now()
	f := facts{aside: why, ahead: claim.Ahead > 0}
	if err := c.Update(ctx, wait, func(tx backend.Tx) error { return c.read(ctx, tx, claim, &f) }); err != nil {
		return Batch{Mark: claim.Mark}, fmt.Errorf("claim: %w", err)
	}
	if len(f.tasks) > 0 {
		crashpoint.At("scheduler/marked")
	}
	b := Batch{claim.Mark, begun, f.now, c.decide(claim.Mark, &f)}
	if len(b.Plans) > 0 {
		crashpoint.At("scheduler/decided")
	}
	return b, nil
}

// read claims tasks, and reads what the decisions on them need.
func (c Committer) read(ctx context.Context, tx backend.Tx, claim backend.Claim, f *facts) (err error) {
	f.now, f.without = tx.Now(), claim.Without.Sinks
	if f.tasks, err = tx.Claim(ctx, claim); err != nil || len(f.tasks) == 0 {
		return err
	}
	crashpoint.At("scheduler/claimed")
	return c.learn(ctx, tx, f)
}

// facts is what the decisions on a batch depend on.
type facts struct {
	now      time.Time
	tasks    []task.Task
	aside    string      // why the tasks were set aside until now
	without  []task.Sink // cannot be used: their tasks are planned only
	ahead    bool        // the tasks are not due yet
	pending  map[string]task.Pending
	recorded backend.Recorded
}

// at is the time for which a task is decided.
func (f *facts) at(t *task.Task) time.Time {
	if f.ahead && t.NextRun.After(f.now) {
		return t.NextRun
	}
	return f.now
}

// learn reads what the decisions on tasks need.
func (c Committer) learn(ctx context.Context, tx backend.Tx, f *facts) (err error) {
	if f.pending, err = c.pendingJobs(ctx, tx, f); err != nil {
		return fmt.Errorf("look for pending jobs: %w", err)
	}
	f.recorded, err = c.recordedTicks(ctx, tx, f)
	crashpoint.At("scheduler/facts-read")
	return err
}

// pendingJobs asks the queues for the pending jobs of the tasks for which
// they matter.
func (c Committer) pendingJobs(ctx context.Context, tx backend.Tx, f *facts) (map[string]task.Pending, error) {
	trackers := map[task.Sink][]string{}
	for i := range f.tasks {
		t := &f.tasks[i]
		if !t.Overlapping() && (t.Queues() || !t.Unplanned()) && c.asks(f, t) {
			trackers[t.Sink] = append(trackers[t.Sink], t.ID)
		}
	}
	pending := map[string]task.Pending{}
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
func (c Committer) recordedTicks(ctx context.Context, tx backend.Tx, f *facts) (backend.Recorded, error) {
	var queued []string
	var since []task.TickKey
	for i := range f.tasks {
		t := &f.tasks[i]
		// The policy may have been another one when the ticks were queued.
		if (t.Queues() || t.NextRun.After(f.at(t))) && c.asks(f, t) {
			queued = append(queued, t.ID)
		}
		if from, ok := c.timers.behind(t, f.at(t)); ok {
			since = append(since, task.TickKey{TaskID: t.ID, Due: from})
		}
	}
	if len(queued)+len(since) == 0 {
		return backend.Recorded{}, nil
	}
	return tx.Ticks(ctx, queued, since)
}

// asks reports whether the queue of a task can be asked. Without that the task is
// planned only.
func (c Committer) asks(f *facts, t *task.Task) bool {
	_, known := c.Queues[t.Sink]
	return known && !slices.Contains(f.without, t.Sink)
}
