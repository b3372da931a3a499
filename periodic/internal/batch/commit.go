package batch

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// Wait is how long the transaction of a whole batch waits for a row that somebody
// else has locked.
const Wait = 100 * time.Millisecond

// Committer runs the transactions of a scheduler's batches.
type Committer struct {
	// Update runs fn in a transaction that commits only if the scheduler may still
	// schedule. wait bounds the wait for each lock.
	Update func(ctx context.Context, wait time.Duration, fn func(backend.Tx) error) error
	Queues map[task.Sink]backend.Queue
	Late   func(*task.Task) string // why its ticks were not decided in time; empty: no scheduler ran, as far as this one knows
	Hooks  backend.Hooks           // nil: nobody wants to hear of ticks
	Tracer jobqueue.SendTracer     // nil: no spans
	Sleep  func(until time.Time)   // precisely, for a moment; nil: transactions do not wait
	timers *timers
	steps  bool // one statement for each step
}

// New returns a committer.
func New(update func(context.Context, time.Duration, func(backend.Tx) error) error, queues map[task.Sink]backend.Queue) Committer {
	return Committer{Update: update, Queues: queues, Late: func(*task.Task) string { return "" }, timers: &timers{}}
}

// Outcome is what a committed submit transaction did.
type Outcome struct {
	Kept  []*task.Plan          // of the tasks whose mark still held, in the order of the batch
	Plans map[string]*task.Plan // the same by the task's id
	Ticks []task.Tick

	refused map[task.TickKey]bool // ticks that the queue of their task has refused for good
}

// Submit commits the plans of tasks that carry a mark, in one transaction:
//
//  1. due and nextrun advance and the mark goes, where the mark still holds;
//  2. the ticks of those tasks are recorded, where they do not exist yet;
//  3. the jobs that these ticks replace are cancelled, and theirs submitted;
//  4. ticks whose job was refused are skipped or queued instead;
//  5. hooks hear of the ticks that get no job.
//
// In the modes leader and exclusive the transaction first checks the lock, and
// keeps its row locked until the end.
//
// Tasks whose mark was lost drop out; the rest of the batch is not affected.
func (c Committer) Submit(ctx context.Context, wait time.Duration, mark string, plans []task.Plan) (Outcome, error) {
	var done Outcome
	spans := spans{tracer: c.Tracer}
	err := c.Update(ctx, wait, func(tx backend.Tx) (err error) {
		done, err = c.write(ctx, tx, mark, plans, &spans)
		return err
	})
	done.committed()
	spans.end(err)
	if errors.Is(err, backend.ErrStepwise) {
		return c.Stepwise().Submit(ctx, wait, mark, plans)
	}
	return done, err
}

// Stepwise returns a committer that uses one statement for each step, so that it learns what
// became of each row.
func (c Committer) Stepwise() Committer {
	c.steps = true
	return c
}

// committed is a point after the commit of a batch that is not empty.
func (o *Outcome) committed() {
	if len(o.Kept) > 0 {
		crashpoint.At("scheduler/batch-committed")
	}
}

// write does what Submit says, in its transaction. Without a mark, the transaction
// holds the tasks.
func (c Committer) write(ctx context.Context, tx backend.Tx, mark string, plans []task.Plan, spans *spans) (done Outcome, err error) {
	if can, err := c.writeAtOnce(ctx, tx, mark, plans); can {
		if err != nil {
			return done, err
		}
		done.keepAll(plans)
		crashpoint.At("scheduler/batch-written")
		return done, nil
	}
	kept, err := tx.Advance(ctx, mark, plans)
	if err != nil {
		return done, fmt.Errorf("advance tasks: %w", err)
	}
	crashpoint.At("scheduler/advanced")
	done.keep(plans, kept)
	if done.Ticks, err = recordTicks(ctx, tx, done.Kept); err != nil {
		return done, fmt.Errorf("record ticks: %w", err)
	}
	crashpoint.At("scheduler/ticks-recorded")
	d := delivery{tx: tx, queues: c.Queues, done: &done, later: LaterError{}, spans: spans}
	inTheWay, err := d.cancelJobs(ctx)
	if err != nil {
		return done, fmt.Errorf("cancel jobs: %w", err)
	}
	if err := d.submitJobs(ctx, inTheWay); err != nil {
		return done, fmt.Errorf("submit jobs: %w", err)
	}
	crashpoint.At("scheduler/jobs-submitted")
	err = c.tellHooks(ctx, tx, done)
	crashpoint.At("scheduler/batch-written")
	return done, err
}

// writeAtOnce writes plans that need no more than one statement. can is false if they need
// more, or if somebody wants to hear of the jobs before they are there.
func (c Committer) writeAtOnce(ctx context.Context, tx backend.Tx, mark string, plans []task.Plan) (can bool, err error) {
	one, ok := tx.(backend.OneStatement)
	if !ok || !c.atOnce(plans) {
		return false, nil
	}
	return one.SubmitPlain(ctx, c.Queues[task.SinkJob], mark, plans)
}

// atOnce reports whether plans need no more than one statement.
func (c Committer) atOnce(plans []task.Plan) bool {
	return !c.steps && c.Tracer == nil && !slices.ContainsFunc(plans, func(p task.Plan) bool { return !silent(&p) })
}

// silent reports whether a plan is plain, adds a job to nextrun's own queue, and says nothing
// about its tick.
func silent(p *task.Plan) bool {
	return p.Task.Sink == task.SinkJob && p.Plain() && p.Manual.IsZero() &&
		p.Ticks[0].Reason == "" && p.Ticks[0].Missed == 0 && p.Ticks[0].Until.IsZero()
}

// keepAll notes that all plans were kept, each with its only tick.
func (o *Outcome) keepAll(plans []task.Plan) {
	o.Plans, o.Kept = make(map[string]*task.Plan, len(plans)), make([]*task.Plan, len(plans))
	o.Ticks = make([]task.Tick, len(plans))
	for i := range plans {
		p := &plans[i]
		o.Kept[i], o.Plans[p.Task.ID], o.Ticks[i] = p, p, p.Ticks[0]
	}
}

// keep notes the plans of the given tasks, in the order of the batch: rows that are
// written in the order of their index cost the database far less.
func (o *Outcome) keep(plans []task.Plan, ids []string) {
	o.Plans = make(map[string]*task.Plan, len(ids))
	for _, id := range ids {
		o.Plans[id] = nil
	}
	for i := range plans {
		p := &plans[i]
		if _, ok := o.Plans[p.Task.ID]; ok {
			o.Plans[p.Task.ID] = p
			o.Kept = append(o.Kept, p)
		}
	}
}

// Moved reports whether a batch decided a tick or changed a plan.
func (o *Outcome) Moved() bool {
	return len(o.Ticks) > 0 || slices.ContainsFunc(o.Kept, func(p *task.Plan) bool {
		return !p.Due.Equal(p.Task.Due) || !p.NextRun.Equal(p.Task.NextRun)
	})
}

// recordTicks settles the queued ticks of the plans and adds the new ones. It
// returns those that were recorded.
func recordTicks(ctx context.Context, tx backend.Tx, plans []*task.Plan) ([]task.Tick, error) {
	settled, added := []task.Tick(nil), make([]task.Tick, 0, len(plans))
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
	return slices.DeleteFunc(ticks, func(t task.Tick) bool { return !have[task.TickKey{TaskID: t.TaskID, Due: t.Due.UTC()}] }), nil
}

// Key is the key of a task in a [backend.Claim].
func Key(id string) string { return hex.EncodeToString([]byte(id)) }

// ID is the id of a key.
func ID(key string) string {
	id, err := hex.DecodeString(key)
	if err != nil {
		return key
	}
	return string(id)
}
