package batch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// LockTimeout is how long the transaction of a whole batch waits for a row that somebody
// else has locked.
const LockTimeout = 100 * time.Millisecond

// Committer runs the transactions of a scheduler's batches.
type Committer struct {
	// Update runs fn in a transaction that commits only if the scheduler may still
	// schedule. wait bounds the wait for each lock.
	Update        func(ctx context.Context, wait time.Duration, fn func(taskdb.Tx) error) error
	Worker        string // who decides
	Queues        map[periodic.Sink]periodic.Queue
	MissedBecause func(*periodic.Task) string // why its ticks were not decided in time; empty: no scheduler ran, as far as this one knows
	Hooks         taskdb.Hooks                // nil: nobody wants to hear of ticks
	Tracer        jobqueue.SendTracer         // nil: no spans
	Sleep         func(until time.Time)       // precisely, for a moment; nil: transactions do not wait
	timers        *timers
}

// New returns a committer.
func New(worker string, update func(context.Context, time.Duration, func(taskdb.Tx) error) error, queues map[periodic.Sink]periodic.Queue) Committer {
	return Committer{Worker: worker, Update: update, Queues: queues, MissedBecause: func(*periodic.Task) string { return "" }, timers: &timers{}}
}

// Outcome is what a committed transaction did.
type Outcome struct {
	Kept  []*decide.Plan          // of the tasks that advanced, in the order of the batch
	Plans map[string]*decide.Plan // the same by the task's id
	Ticks []periodic.Tick
	Took  time.Duration // from the first write to the end of the transaction

	refused map[periodic.TickKey]bool // ticks that the queue of their task has refused for good
}

// transact runs a transaction that writes a batch.
func (c Committer) transact(ctx context.Context, wait time.Duration, work func(taskdb.Tx, *delivery) error) (Outcome, error) {
	var done Outcome
	var d *delivery
	spans := spans{tracer: c.Tracer}
	err := c.Update(ctx, wait, func(tx taskdb.Tx) error {
		done = Outcome{}
		d = &delivery{tx: tx, queues: c.Queues, outcome: &done, later: LaterError{}, spans: &spans}
		return work(tx, d)
	})
	if d != nil && !d.writesBegan.IsZero() {
		done.Took = time.Since(d.writesBegan)
	}
	if len(done.Kept) > 0 {
		crashpoint.At("scheduler/batch-committed")
	}
	spans.end(err)
	return done, err
}

// write commits the plans of tasks that the transaction has locked, or whose rows are as they were
// read; others drop out:
//
//  1. due and nextrun advance;
//  2. the ticks of those tasks are recorded, where they do not exist yet;
//  3. the jobs that these ticks replace are cancelled, and theirs submitted;
//  4. ticks whose job was refused are skipped or queued instead;
//  5. hooks hear of the ticks that get no job.
//
// In the modes leader and exclusive the transaction first checks the lock, and
// keeps its row locked until the end.
func (c Committer) write(ctx context.Context, d *delivery, plans []decide.Plan) error {
	d.writesBegan = time.Now()
	if c.fitOneStatement(plans) {
		if can, err := c.submitAtOnce(ctx, d, plans); can || err != nil {
			return err
		}
	}
	ids, err := d.tx.Advance(ctx, plans)
	if err != nil {
		return fmt.Errorf("advance tasks: %w", err)
	}
	crashpoint.At("scheduler/advanced")
	kept := make(map[string]bool, len(ids))
	for _, id := range ids {
		kept[id] = true
	}
	if err := d.outcome.keep(plans, func(id string) bool { return kept[id] }); err != nil || len(ids) == 0 {
		return err
	}
	if d.outcome.Ticks, err = recordTicks(ctx, d.tx, d.outcome.Kept); err != nil {
		return fmt.Errorf("record ticks: %w", err)
	}
	crashpoint.At("scheduler/ticks-recorded")
	inTheWay, err := d.cancelJobs(ctx)
	if err != nil {
		return fmt.Errorf("cancel jobs: %w", err)
	}
	if err := d.submitJobs(ctx, inTheWay); err != nil {
		return fmt.Errorf("submit jobs: %w", err)
	}
	crashpoint.At("scheduler/jobs-submitted")
	err = c.tellHooks(ctx, d.tx, *d.outcome)
	crashpoint.At("scheduler/batch-written")
	return err
}

// submitAtOnce writes plans that need no more than one statement. can is false if the database
// has none.
func (c Committer) submitAtOnce(ctx context.Context, d *delivery, plans []decide.Plan) (can bool, err error) {
	queue := c.Queues[periodic.SinkJob]
	left, can, err := d.tx.SubmitAtOnce(ctx, queue, plans)
	if !can || err != nil {
		return can, err
	}
	missing := make(map[string]taskdb.Unsubmitted, len(left))
	for _, l := range left {
		missing[l.TaskID] = l
	}
	if err := d.outcome.keep(plans, func(id string) bool { l, ok := missing[id]; return !ok || l.Advanced }); err != nil {
		return true, err
	}
	d.outcome.Ticks = make([]periodic.Tick, 0, len(d.outcome.Kept))
	var jobs []jobqueue.Job
	var refused []sink.Submission
	for _, p := range d.outcome.Kept {
		tick := p.Ticks[0]
		if l, ok := missing[p.Task.ID]; ok && !l.Recorded { // it was there before
			continue
		} else if ok {
			jobs = append(jobs, p.Task.Job(tick.JID, tick.Due, d.tx.Now()))
			refused = append(refused, sink.Submission{JID: tick.JID})
		}
		d.outcome.Ticks = append(d.outcome.Ticks, tick)
	}
	if len(refused) > 0 {
		err = d.resolveRefusals(ctx, queue, jobs, refused)
	}
	if err == nil {
		err = c.tellHooks(ctx, d.tx, *d.outcome)
	}
	crashpoint.At("scheduler/batch-written")
	return true, err
}

// fitOneStatement reports whether plans need no more than one statement. One that does not fit sends the
// whole batch the longer way, through Advance, Record and Submit, as does a tracer.
func (c Committer) fitOneStatement(plans []decide.Plan) bool {
	return c.Tracer == nil && !slices.ContainsFunc(plans, func(p decide.Plan) bool { return !fitsOneStatement(&p) })
}

// fitsOneStatement reports whether a plan is plain, adds a job to nextrun's own queue, and says nothing
// about its tick.
func fitsOneStatement(p *decide.Plan) bool {
	return p.Task.Sink == periodic.SinkJob && p.Plain() && p.Manual.IsZero() && p.Task.Pace.MaxTicks == 0 && p.Ticks[0].FinishBy.IsZero() &&
		p.Ticks[0].Reason == "" && p.Ticks[0].Missed == 0 && p.Ticks[0].Until.IsZero()
}

// keep notes the plans of the tasks that have advanced, in the order of the batch: rows that are
// written in the order of their index cost the database far less. It fails if a task that is
// locked has not.
func (o *Outcome) keep(plans []decide.Plan, kept func(id string) bool) error {
	o.Plans, o.Kept = make(map[string]*decide.Plan, len(plans)), make([]*decide.Plan, 0, len(plans))
	for i := range plans {
		p := &plans[i]
		switch {
		case kept(p.Task.ID):
			o.Plans[p.Task.ID] = p
			o.Kept = append(o.Kept, p)
		case p.Task.Version == "":
			return taskdb.ErrSuppressed
		}
	}
	return nil
}

// Moved reports whether a batch decided a tick or changed a plan.
func (o *Outcome) Moved() bool {
	return len(o.Ticks) > 0 || slices.ContainsFunc(o.Kept, func(p *decide.Plan) bool {
		return !p.Due.Equal(p.Task.Due) || !p.NextRun.Equal(p.Task.NextRun)
	})
}

// recordTicks settles the queued ticks of the plans and adds the new ones. It
// returns those that were recorded.
func recordTicks(ctx context.Context, tx taskdb.Tx, plans []*decide.Plan) ([]periodic.Tick, error) {
	settled, added := []periodic.Tick(nil), make([]periodic.Tick, 0, len(plans))
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
	have := make(map[periodic.TickKey]bool, len(keys))
	for _, k := range keys {
		have[periodic.TickKey{TaskID: k.TaskID, Due: k.Due.UTC()}] = true
	}
	return slices.DeleteFunc(ticks, func(t periodic.Tick) bool { return !have[periodic.TickKey{TaskID: t.TaskID, Due: t.Due.UTC()}] }), nil
}
