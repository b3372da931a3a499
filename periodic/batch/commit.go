package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// LockTimeout is how long a statement of a whole batch waits for a lock. It passes over rows of tasks that somebody else has
// locked; it meets other locks: of a table, of an aggregate, of a job that somebody adds and has not committed.
const LockTimeout = 100 * time.Millisecond

// Processor reads tasks, has them decide and writes their plans.
type Processor struct {
	// Update runs fn in a transaction that commits only if the scheduler may still
	// schedule. wait bounds the wait for each lock.
	Update func(ctx context.Context, wait time.Duration, fn func(Tx) error) error
	View   func(ctx context.Context, fn func(Tx) error) error // runs fn in a transaction that only reads
	Worker string                                             // who decides
	Queues map[periodic.Sink]periodic.Queue
	Hooks  Hooks               // nil: nobody wants to hear of ticks
	Tracer jobqueue.SendTracer // nil: no spans
	Sleep  func(time.Duration) // for a moment; nil: transactions do not wait
	timers *timers
}

// New returns a processor.
func New(worker string, update func(context.Context, time.Duration, func(Tx) error) error,
	view func(context.Context, func(Tx) error) error, queues map[periodic.Sink]periodic.Queue,
) Processor {
	return Processor{Worker: worker, Update: update, View: view, Queues: queues, timers: &timers{}}
}

// validFor is for how long a plan may be used: from the time of its task on or, if that had come when it was made, from then on.
// Where the database is slow it is longer, as writing then takes about as long as reading did; but no longer than mostValid.
const (
	validFor  = 2 * time.Second
	mostValid = 30 * time.Second
)

// Submit commits plans. Those that were made ahead, in a batch without Now, are not written before their time: it waits
// for a moment where a transaction can, else it returns an [*EarlyError]. Tasks drop out whose row was written since it was
// read, or that somebody else has locked, as do plans that are too old. A [LaterError] says which plans have to be left out.
func (c Processor) Submit(ctx context.Context, wait time.Duration, b Batch) (Outcome, error) {
	done, err := c.submit(ctx, wait, b, c.arePlain(b.Plans))
	if errors.Is(err, ErrInTheWay) {
		return c.submit(ctx, wait, b, false)
	}
	return done, err
}

// arePlain reports whether one statement may write all of these plans: each only adds a job to nextrun's own queue. A tracer
// wants a statement of the queue's own.
func (c Processor) arePlain(plans []periodic.Plan) bool {
	return c.Tracer == nil && !slices.ContainsFunc(plans, func(p periodic.Plan) bool { return p.Task.Sink != periodic.SinkJob || !p.Plain() })
}

// submit is Submit in one transaction.
func (c Processor) submit(ctx context.Context, wait time.Duration, b Batch, plain bool) (done Outcome, err error) {
	var began time.Time
	spans := spans{tracer: c.Tracer}
	err = c.Update(ctx, wait, func(tx Tx) error {
		done = Outcome{}
		if b.IsAhead() {
			if err := c.waitUntilDue(ctx, tx, b.ReadyAt()); err != nil {
				return err
			}
		}
		plans := c.valid(b, tx.Now())
		if len(plans) == 0 {
			return nil
		}
		began = time.Now()
		return c.write(ctx, &delivery{tx: tx, queues: c.Queues, outcome: &done, later: LaterError{}, spans: &spans}, plans, plain)
	})
	if !began.IsZero() {
		done.Took = time.Since(began)
	}
	spans.end(err)
	return done, err
}

// valid are the plans of a batch that are not too old, as decided now, and of those whose jobs a [sink.Submitter] is given,
// as many as it is given in one transaction. The tasks of others stay due.
func (c Processor) valid(b Batch, now time.Time) (plans []periodic.Plan) {
	plans, given := make([]periodic.Plan, 0, len(b.Plans)), 0
	lasts := min(validFor+2*b.Took, mostValid)
	for _, p := range b.Plans {
		if !p.Lasts(b.Now, now, lasts) {
			continue
		}
		if queue := c.Queues[p.Task.Sink]; queue != nil && !queue.CopiesArgs() {
			if given++; given > maxSubmitJobs {
				continue
			}
		}
		for _, ticks := range [][]periodic.Tick{p.Ticks, p.Settled} {
			for i := range ticks {
				ticks[i].Decided = now
			}
		}
		plans = append(plans, p)
	}
	return plans
}

// MaxEarly is how long before its time a transaction may begin.
const MaxEarly = 20 * time.Millisecond

// EarlyError says that a batch was not submitted because its time has not come by the
// database's clock.
type EarlyError struct {
	By    time.Duration
	Asked time.Time // by the host's clock: about when the database gave the time
}

func (e *EarlyError) Error() string { return fmt.Sprintf("the batch is due in %s", e.By) }

// waitUntilDue waits for a moment in a transaction until a time has come.
func (c Processor) waitUntilDue(ctx context.Context, tx Tx, due time.Time) error {
	early, asked := due.Sub(tx.Now()), time.Now()
	if 0 < early && early <= 2*MaxEarly && c.Sleep != nil {
		if err := tx.WarmUp(ctx, c.Queues[periodic.SinkJob]); err != nil {
			return err
		}
		c.Sleep(time.Until(asked.Add(early)))
		asked = time.Now()
		if err := tx.RefreshNow(ctx); err != nil {
			return err
		}
		early = due.Sub(tx.Now())
	}
	if early > 0 {
		return &EarlyError{By: early, Asked: asked}
	}
	return nil
}

// write writes the plans of tasks whose rows are as they were read, and locks these; others drop out:
//
//  1. due and nextrun advance;
//  2. the ticks of those tasks are recorded, where they do not exist yet;
//  3. the jobs that these ticks replace are cancelled, and theirs submitted;
//  4. ticks whose job was refused are skipped instead, unless their task waits for the end of a job;
//  5. hooks hear of the ticks that get no job.
//
// In the modes leader and exclusive the transaction first checks the lock, and
// keeps its row locked until the end.
func (c Processor) write(ctx context.Context, d *delivery, plans []periodic.Plan, plain bool) error {
	if plain {
		if can, err := c.writePlain(ctx, d, plans); can || err != nil {
			return err
		}
	}
	ids, err := d.tx.Advance(ctx, plans)
	if err != nil {
		return fmt.Errorf("advance tasks: %w", err)
	}
	kept := make(map[string]bool, len(ids))
	for _, id := range ids {
		kept[id] = true
	}
	if d.outcome.keep(plans, func(id string) bool { return kept[id] }); len(ids) == 0 {
		return nil
	}
	if d.outcome.Ticks, err = recordTicks(ctx, d.tx, d.outcome.Kept); err != nil {
		return fmt.Errorf("record ticks: %w", err)
	}
	inTheWay, err := d.cancelJobs(ctx)
	if err != nil {
		return fmt.Errorf("cancel jobs: %w", err)
	}
	if err := d.submitJobs(ctx, inTheWay); err != nil {
		return fmt.Errorf("submit jobs: %w", err)
	}
	return c.tellHooks(ctx, d.tx, *d.outcome)
}

// writePlain writes plain plans with one statement. can is false if the database
// has none.
func (c Processor) writePlain(ctx context.Context, d *delivery, plans []periodic.Plan) (can bool, err error) {
	left, can, err := d.tx.SubmitPlain(ctx, c.Queues[periodic.SinkJob], plans)
	if !can || err != nil {
		return can, err
	}
	missing := make(map[string]bool, len(left))
	for _, id := range left {
		missing[id] = true
	}
	d.outcome.keep(plans, func(id string) bool { return !missing[id] })
	d.outcome.Ticks = make([]periodic.Tick, 0, len(d.outcome.Kept))
	for _, p := range d.outcome.Kept {
		d.outcome.Ticks = append(d.outcome.Ticks, p.Ticks[0])
	}
	return true, nil
}

// keep notes the plans of the tasks that have advanced, in the order of the batch: rows that are
// written in the order of their index cost the database far less.
func (o *Outcome) keep(plans []periodic.Plan, kept func(id string) bool) {
	o.Plans, o.Kept = make(map[string]*periodic.Plan, len(plans)), make([]*periodic.Plan, 0, len(plans))
	for i := range plans {
		if p := &plans[i]; kept(p.Task.ID) {
			o.Plans[p.Task.ID] = p
			o.Kept = append(o.Kept, p)
		}
	}
}
