package periodic

import (
	"context"
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/jobqueue"
)

// Limits of what a [Submitter] that does not copy args itself is given at once.
const (
	maxSubmitJobs  = 500
	maxSubmitBytes = 8 << 20
)

// outcome is what a committed submit transaction did.
type outcome struct {
	kept  []*Plan          // of the tasks whose mark still held, in the order of the batch
	plans map[string]*Plan // the same by the task's id
	ticks []Tick
}

// submit commits the plans of tasks that carry a mark, in one transaction:
//
//  1. due and nextrun advance and the mark goes, where the mark still holds;
//  2. the ticks of those tasks are recorded, where they do not exist yet;
//  3. the jobs of those ticks are submitted, and those that they replace cancelled;
//  4. ticks whose job was refused are skipped or queued instead.
//
// In the modes leader and exclusive all that comes after a check of the lock,
// which stays locked until the end.
//
// What was lost on the way drops out; the rest of the batch is not affected.
func (s *Scheduler) submit(ctx context.Context, mark string, plans []Plan) (outcome, error) {
	var done outcome
	err := s.update(ctx, func(tx Tx) error {
		done = outcome{}
		kept, err := tx.Advance(ctx, mark, plans)
		if err != nil {
			return fmt.Errorf("advance tasks: %w", err)
		}
		done.keep(plans, kept)
		if done.ticks, err = s.recordTicks(ctx, tx, done.kept); err != nil {
			return fmt.Errorf("record ticks: %w", err)
		}
		if err := s.cancelJobs(ctx, tx, done); err != nil {
			return fmt.Errorf("cancel jobs: %w", err)
		}
		refused, err := s.submitJobs(ctx, tx, done)
		if err != nil {
			return fmt.Errorf("submit jobs: %w", err)
		}
		return done.refuse(ctx, tx, refused)
	})
	return done, err
}

// keep notes the plans of the given tasks. Rows that are written in the order in
// which others of their kind stand cost the database far less.
func (o *outcome) keep(plans []Plan, ids []string) {
	o.plans = make(map[string]*Plan, len(ids))
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

// recordTicks adds the new ticks of the plans and settles the queued ones. It
// returns those that were recorded.
func (s *Scheduler) recordTicks(ctx context.Context, tx Tx, plans []*Plan) ([]Tick, error) {
	added, settled := make([]Tick, 0, len(plans)), []Tick(nil)
	for _, p := range plans {
		added = append(added, p.Ticks...)
		settled = append(settled, p.Settled...)
	}
	recorded, err := recordedBy(ctx, tx.SettleTicks, settled)
	if err != nil {
		return nil, err
	}
	more, err := recordedBy(ctx, tx.AddTicks, added)
	if len(recorded) == 0 {
		return more, err
	}
	return append(recorded, more...), err
}

// recordedBy returns the ticks that a method of the store has recorded.
func recordedBy(ctx context.Context, record func(context.Context, []Tick) ([]TickKey, error), ticks []Tick) ([]Tick, error) {
	if len(ticks) == 0 {
		return nil, nil
	}
	keys, err := record(ctx, ticks)
	if err != nil || len(keys) == len(ticks) {
		return ticks, err
	}
	have := make(map[TickKey]bool, len(keys))
	for _, k := range keys {
		have[TickKey{k.TaskID, k.Due.UTC()}] = true
	}
	return slices.DeleteFunc(ticks, func(t Tick) bool { return !have[TickKey{t.TaskID, t.Due.UTC()}] }), nil
}

// cancelJobs cancels the jobs that ticks of this batch replace.
func (s *Scheduler) cancelJobs(ctx context.Context, tx Tx, done outcome) error {
	replaced := map[string]bool{}
	for _, t := range done.ticks {
		replaced[t.TaskID] = replaced[t.TaskID] || t.Decision == Submitted || t.Decision == Queued
	}
	bySink := map[Sink][]string{}
	for _, p := range done.kept {
		if p.Cancel != "" && replaced[p.Task.ID] {
			bySink[p.Task.Sink] = append(bySink[p.Task.Sink], p.Cancel)
		}
	}
	for sink, jids := range bySink {
		if c, ok := s.submitters[sink].(Canceller); ok {
			if err := c.Cancel(ctx, tx.DBTX(), jids, tx.Now()); err != nil {
				return err
			}
		}
	}
	return nil
}

// submitJobs submits the jobs of the recorded ticks and returns the ids of
// those that were refused.
func (s *Scheduler) submitJobs(ctx context.Context, tx Tx, done outcome) (map[string]bool, error) {
	bySink := map[Sink][]jobqueue.Job{}
	for _, tick := range done.ticks {
		if tick.Decision == Submitted {
			t := done.plans[tick.TaskID].Task
			if bySink[t.Sink] == nil {
				bySink[t.Sink] = make([]jobqueue.Job, 0, len(done.ticks))
			}
			bySink[t.Sink] = append(bySink[t.Sink], t.job(tick, tx.Now()))
		}
	}
	refused := map[string]bool{}
	for sink, jobs := range bySink {
		submitter := s.submitters[sink]
		give := func(jobs []jobqueue.Job) error {
			ids, err := submitter.Submit(ctx, tx.DBTX(), jobs)
			for _, id := range ids {
				refused[id] = true
			}
			return err
		}
		if _, ok := submitter.(ArgsCopier); ok {
			if err := give(jobs); err != nil {
				return nil, err
			}
			continue
		}
		if err := withArgs(ctx, tx, jobs, give); err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// withArgs reads the args of jobs and gives them on in parts of limited size.
func withArgs(ctx context.Context, tx Tx, jobs []jobqueue.Job, give func([]jobqueue.Job) error) error {
	for len(jobs) > 0 {
		part := jobs[:min(len(jobs), maxSubmitJobs)]
		ids := make([]string, len(part))
		for i, j := range part {
			ids[i] = j.Tracker
		}
		args, err := tx.Args(ctx, ids, maxSubmitBytes)
		if err != nil {
			return err
		}
		n := 0
		for ; n < len(part); n++ {
			text, ok := args[part[n].Tracker]
			if !ok {
				break
			}
			part[n].Args = text
		}
		if n == 0 {
			return fmt.Errorf("the args of task %q cannot be read", part[0].Tracker)
		}
		if err := give(part[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// refuse changes the ticks whose job was refused: somebody else submitted a job
// of that task since we looked.
func (o *outcome) refuse(ctx context.Context, tx Tx, refused map[string]bool) error {
	if len(refused) == 0 {
		return nil
	}
	var changed []Tick
	for i := range o.ticks {
		tick := &o.ticks[i]
		if !refused[tick.JID] {
			continue
		}
		tick.JID, tick.Decision, tick.Reason = "", Skipped, pendingText(nil, tx.Now())
		switch o.plans[tick.TaskID].Task.Overlap {
		case OverlapQueue, OverlapReplace:
			tick.Decision, tick.Reason = Queued, "waits: "+tick.Reason
		}
		changed = append(changed, *tick)
	}
	_, err := tx.SettleTicks(ctx, changed)
	return err
}

// submitHalves submits plans that failed together in ever smaller parts, so
// that one bad row does not hold up the others, and gives the bad one a
// problem.
func (s *Scheduler) submitHalves(ctx context.Context, mark string, plans []Plan, cause error) error {
	if len(plans) == 1 && s.contended(ctx, cause) {
		s.stale = append(s.stale, mark) // it is tried again
		return nil
	}
	if len(plans) == 1 {
		return s.submitFailed(ctx, mark, plans[0], cause)
	}
	for _, half := range [][]Plan{plans[:len(plans)/2], plans[len(plans)/2:]} {
		done, err := s.submit(ctx, mark, half)
		switch {
		case err == nil:
			s.report(done)
		case s.transient(err) && !s.contended(ctx, err):
			return err
		default:
			if err := s.submitHalves(ctx, mark, half, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// submitFailed advances a task whose job the database refuses, and says so in
// its ticks and in its problem.
func (s *Scheduler) submitFailed(ctx context.Context, mark string, p Plan, cause error) error {
	p.Problem = fmt.Sprintf("the tick could not be submitted: %v", cause)
	p.Cancel = ""
	for _, ticks := range [][]Tick{p.Ticks, p.Settled} {
		for i := range ticks {
			if ticks[i].Decision == Submitted {
				ticks[i].Decision, ticks[i].Reason, ticks[i].JID = Skipped, p.Problem, ""
			}
		}
	}
	done, err := s.submit(ctx, mark, []Plan{p})
	if err == nil {
		s.report(done)
	}
	return err
}

// contended reports whether an error is that of a row which somebody else has
// locked, or of a statement that took too long: smaller batches may do better.
func (s *Scheduler) contended(ctx context.Context, err error) bool {
	return ctx.Err() == nil && s.store.Contended(err)
}

// report tells of a committed batch.
func (s *Scheduler) report(done outcome) {
	s.progress = s.progress || len(done.ticks) > 0
	for _, p := range done.kept {
		s.progress = s.progress || !p.Due.Equal(p.Task.Due) || !p.NextRun.Equal(p.Task.NextRun)
		if p.Problem != "" && p.Problem != p.Task.Problem {
			s.observe(Event{Kind: EventProblem, Task: p.Task, Problem: p.Problem})
		}
	}
	for _, t := range done.ticks {
		s.observe(Event{Kind: EventTick, Task: done.plans[t.TaskID].Task, Tick: t})
	}
}
