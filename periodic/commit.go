package periodic

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// How long a transaction waits for a row that somebody else has locked.
const (
	batchWait = 100 * time.Millisecond // for a whole batch
	aloneWait = 20 * time.Millisecond  // while searching for the row that fails, or retrying it
)

// committer runs the transactions of a scheduler. It has no state of its own;
// any goroutine may call it.
type committer struct {
	role    role
	queues  map[Sink]backend.Queue
	timers  *timers
	outages *outages
	faultOf func(error) backend.Fault
}

// outcome is what a committed submit transaction did.
type outcome struct {
	kept  []*task.Plan          // of the tasks whose mark still held, in the order of the batch
	plans map[string]*task.Plan // the same by the task's id
	ticks []Tick
}

// submit commits the plans of tasks that carry a mark, in one transaction:
//
//  1. due and nextrun advance and the mark goes, where the mark still holds;
//  2. the ticks of those tasks are recorded, where they do not exist yet;
//  3. the jobs that these ticks replace are cancelled, and theirs submitted;
//  4. ticks whose job was refused are skipped or queued instead.
//
// In the modes leader and exclusive the transaction first checks the lock, and
// keeps its row locked until the end.
//
// Tasks whose mark was lost drop out; the rest of the batch is not affected.
func (c committer) submit(ctx context.Context, wait time.Duration, mark string, plans []task.Plan) (outcome, error) {
	var done outcome
	err := c.role.update(ctx, wait, func(tx backend.Tx) error {
		done = outcome{}
		kept, err := tx.Advance(ctx, mark, plans)
		if err != nil {
			return fmt.Errorf("advance tasks: %w", err)
		}
		done.keep(plans, kept)
		if done.ticks, err = recordTicks(ctx, tx, done.kept); err != nil {
			return fmt.Errorf("record ticks: %w", err)
		}
		inTheWay, err := c.cancelJobs(ctx, tx, done)
		if err != nil {
			return fmt.Errorf("cancel jobs: %w", err)
		}
		if err := c.submitJobs(ctx, tx, &done, inTheWay); err != nil {
			return fmt.Errorf("submit jobs: %w", err)
		}
		return nil
	})
	return done, err
}

// keep notes the plans of the given tasks, in the order of the batch: rows that are
// written in the order of their index cost the database far less.
func (o *outcome) keep(plans []task.Plan, ids []string) {
	o.plans = make(map[string]*task.Plan, len(ids))
	for _, id := range ids {
		o.plans[id] = nil
	}
	for i := range plans {
		p := &plans[i]
		if _, ok := o.plans[p.Task.ID]; ok {
			o.plans[p.Task.ID] = p
			o.kept = append(o.kept, p)
		}
	}
}

// moved reports whether a batch decided a tick or changed a plan.
func (o *outcome) moved() bool {
	return len(o.ticks) > 0 || slices.ContainsFunc(o.kept, func(p *task.Plan) bool {
		return !p.Due.Equal(p.Task.Due) || !p.NextRun.Equal(p.Task.NextRun)
	})
}

// recordTicks settles the queued ticks of the plans and adds the new ones. It
// returns those that were recorded.
func recordTicks(ctx context.Context, tx backend.Tx, plans []*task.Plan) ([]Tick, error) {
	settled, added := []Tick(nil), make([]Tick, 0, len(plans))
	for _, p := range plans {
		settled = append(settled, p.Settled...)
		added = append(added, p.Ticks...)
	}
	if len(settled)+len(added) == 0 {
		return nil, nil
	}
	keys, err := tx.Record(ctx, settled, added)
	ticks := added
	if len(settled) > 0 { // rarely
		ticks = slices.Concat(settled, added)
	}
	if err != nil || len(keys) == len(ticks) {
		return ticks, err
	}
	have := make(map[task.TickKey]bool, len(keys))
	for _, k := range keys {
		have[task.TickKey{TaskID: k.TaskID, Due: k.Due.UTC()}] = true
	}
	return slices.DeleteFunc(ticks, func(t Tick) bool { return !have[task.TickKey{TaskID: t.TaskID, Due: t.Due.UTC()}] }), nil
}

// probe checks whether a sink takes jobs at all.
func (c committer) probe(ctx context.Context, sink Sink) error {
	queue, ok := c.queues[sink]
	if !ok {
		return nil
	}
	return c.role.update(ctx, aloneWait, func(tx backend.Tx) error { return queue.Probe(ctx, tx.DBTX()) })
}
