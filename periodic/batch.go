package periodic

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// batch is a number of tasks that carry one mark, and what to do with them. It
// does not change after claim has made it.
type batch struct {
	mark  string
	begun time.Time // by the host's clock
	now   time.Time // by the database's clock
	plans []task.Plan
}

// claim marks due tasks, reads what the decisions need, commits, and decides.
func (c committer) claim(ctx context.Context, wait time.Duration, claim backend.Claim) (batch, error) {
	return c.claimAside(ctx, wait, claim, "")
}

// claimAside is claim for a task that was set aside; why says for what reason.
func (c committer) claimAside(ctx context.Context, wait time.Duration, claim backend.Claim, why string) (batch, error) {
	begun := time.Now()
	f := batchFacts{without: claim.Without.Sinks, aside: why}
	err := c.role.update(ctx, wait, func(tx backend.Tx) (err error) {
		f.now = tx.Now()
		if f.tasks, err = tx.Claim(ctx, claim); err != nil || len(f.tasks) == 0 {
			return err
		}
		if f.pending, err = c.pendingJobs(ctx, tx, &f); err != nil {
			return fmt.Errorf("look for pending jobs: %w", err)
		}
		f.recorded, err = c.recordedTicks(ctx, tx, &f)
		return err
	})
	if err != nil {
		return batch{mark: claim.Mark}, fmt.Errorf("claim: %w", err)
	}
	return batch{claim.Mark, begun, f.now, c.decide(claim.Mark, &f)}, nil
}

// batchFacts is what the decisions on a batch depend on.
type batchFacts struct {
	now      time.Time
	tasks    []Task
	aside    string // why the tasks were set aside until now
	without  []Sink // cannot be used: their tasks are planned only
	pending  map[string]Pending
	recorded backend.Recorded
}

// pendingJobs asks the queues for the pending jobs of the tasks for which
// they matter.
func (c committer) pendingJobs(ctx context.Context, tx backend.Tx, f *batchFacts) (map[string]Pending, error) {
	trackers := map[Sink][]string{}
	for i := range f.tasks {
		t := &f.tasks[i]
		if !t.Overlapping() && (t.Queues() || !t.Unplanned()) && c.asks(f, t) {
			trackers[t.Sink] = append(trackers[t.Sink], t.ID)
		}
	}
	pending := map[string]Pending{}
	for sink, ids := range trackers {
		found, err := c.queues[sink].Pending(ctx, tx.DBTX(), ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(pending, found)
	}
	return pending, nil
}

// recordedTicks reads the recorded ticks of a batch's tasks that matter.
func (c committer) recordedTicks(ctx context.Context, tx backend.Tx, f *batchFacts) (backend.Recorded, error) {
	var queued []string
	var since []task.TickKey
	for i := range f.tasks {
		t := &f.tasks[i]
		// The policy may have been another one when the ticks were queued.
		if (t.Queues() || t.NextRun.After(f.now)) && c.asks(f, t) {
			queued = append(queued, t.ID)
		}
		if from, ok := c.behind(t, f.now); ok {
			since = append(since, task.TickKey{TaskID: t.ID, Due: from})
		}
	}
	if len(queued)+len(since) == 0 {
		return backend.Recorded{}, nil
	}
	return tx.Ticks(ctx, queued, since)
}

// behind reports whether some of a task's due ticks may have been decided before,
// and since when: a backfill may have submitted them after an outage, or somebody
// may have set nextrun back.
func (c committer) behind(t *Task, now time.Time) (since time.Time, ok bool) {
	if t.Unplanned() || t.NextRun.After(now) {
		return since, false
	}
	if t.Manual() {
		return t.NextRun, true
	}
	timer, err := c.timers.of(t)
	if err != nil {
		return since, false
	}
	next := timer.Next(t.Due)
	return t.Due, !next.IsZero() && !next.After(now)
}

// decide makes the plans of a batch.
func (c committer) decide(mark string, b *batchFacts) []task.Plan {
	plans := make([]task.Plan, len(b.tasks))
	for i := range b.tasks {
		t := &b.tasks[i]
		timer, err := c.timers.of(t)
		if err != nil {
			plans[i] = task.Blocked(t, err)
			continue
		}
		f := task.Facts{
			Now: b.now, Queued: b.recorded.Queued[t.ID], Decided: b.recorded.Decided[t.ID],
			Mark: mark, Aside: cmp.Or(b.aside, c.outages.why(t)), Most: max(1, task.MaxBatchTicks/len(b.tasks)),
		}
		if p, ok := b.pending[t.ID]; ok {
			f.Pending = &p
		}
		plans[i] = task.Decide(t, timer, f, jobqueue.NewID)
		if plans[i].Problem == "" {
			plans[i].Problem = c.sinkProblem(t)
		}
	}
	return plans
}

// sinkProblem is what is wrong with a task's sink; empty: nothing.
func (c committer) sinkProblem(t *Task) string {
	queue, ok := c.queues[t.Sink]
	switch {
	case !ok:
		return noQueue(t.Sink)
	case t.Overlap == OverlapReplace && !queue.Cancels():
		return task.Warning(fmt.Sprintf("overlap replace: the queue %q cannot cancel jobs, so ticks wait for the end of the job instead", t.Sink))
	}
	return ""
}

// noQueue is the problem of a task whose sink the scheduler does not know. The task
// keeps its plan: a scheduler that knows the sink submits its jobs.
func noQueue(sink Sink) string {
	return fmt.Sprintf("sink %q: the scheduler has no queue of that name; add it to the section queues of its configuration, or set sink to another queue", sink)
}

// asks reports whether the queue of a task can be asked. Without that the task is
// planned only.
func (c committer) asks(f *batchFacts, t *Task) bool {
	_, known := c.queues[t.Sink]
	return known && !slices.Contains(f.without, t.Sink)
}
