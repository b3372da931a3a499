package periodic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// The functions below search a failed batch beside the loop. They return findings:
// which tasks fail alone, which sinks cannot be used, and what was committed.

// probeAll tries sinks and returns the errors of those that cannot be used.
func (c committer) probeAll(ctx context.Context, sinks []Sink) (map[Sink]error, error) {
	bad := map[Sink]error{}
	for _, sink := range sinks {
		err := c.probe(ctx, sink)
		if err != nil && !c.isolatable(err) {
			return nil, err
		}
		if err != nil {
			bad[sink] = err
		}
	}
	return bad, nil
}

// sinkOf is the sink that a plan uses; empty if it submits and cancels nothing.
func sinkOf(p *task.Plan) Sink {
	submits := func(t Tick) bool { return t.Decision == Submitted }
	if p.Cancel != "" || slices.ContainsFunc(p.Ticks, submits) || slices.ContainsFunc(p.Settled, submits) {
		return p.Task.Sink
	}
	return ""
}

// isolateSubmit submits those plans of a failed batch that can be submitted. It
// leaves out sinks that cannot be used and tasks that fail alone.
func (c committer) isolateSubmit(ctx context.Context, b batch, cause error) (f findings) {
	f.marks = []string{b.mark}
	plans := b.plans
	for later := (laterError{}); errors.As(cause, &later); {
		plans = c.postpone(ctx, plans, later, &f)
		if len(plans) == 0 {
			return f
		}
		if cause = c.submitPart(ctx, b, plans, &f); cause == nil {
			return f
		}
	}
	if c.fault(cause) != backend.FaultRow {
		if f.sinks, f.err = c.probeAll(ctx, sinksOf(plans)); f.err != nil {
			return f
		}
		if len(f.sinks) > 0 {
			plans = slices.DeleteFunc(slices.Clone(plans), func(p task.Plan) bool { _, bad := f.sinks[sinkOf(&p)]; return bad })
			if len(plans) == 0 {
				return f
			}
			if cause = c.submitPart(ctx, b, plans, &f); cause == nil {
				return f
			}
		}
	}
	for _, more := range c.search(ctx, b, plans, cause) {
		f.add(more)
	}
	return f
}

// submitPart submits some plans of a batch and notes what was committed.
func (c committer) submitPart(ctx context.Context, b batch, plans []task.Plan, f *findings) error {
	done, err := c.submit(ctx, aloneWait, b.mark, plans)
	if err == nil {
		f.done = append(f.done, batchDone{b, done})
	}
	return err
}

// postpone sets tasks aside whose queue may take their jobs later, and returns the
// plans of the others.
func (c committer) postpone(ctx context.Context, plans []task.Plan, later laterError, f *findings) []task.Plan {
	return slices.DeleteFunc(slices.Clone(plans), func(p task.Plan) bool {
		reason, postponed := later[p.Task.ID]
		if postponed {
			c.blame(ctx, keyOf(p.Task.ID), errors.New(reason))
			f.setAside = append(f.setAside, setAside{key: keyOf(p.Task.ID), doing: "submit", err: errors.New(reason), why: notToBlame})
		}
		return postponed
	})
}

// searches is how many parts of a batch are searched at the same time. Searching
// in parallel helps because it mostly waits for locks.
const searches = 4

// search submits plans that failed together, in parts, without those that fail
// alone.
func (c committer) search(ctx context.Context, b batch, plans []task.Plan, cause error) []findings {
	parts := slices.Collect(slices.Chunk(plans, max(len(plans)/searches+1, searches)))
	found := make([]findings, len(parts))
	var searching sync.WaitGroup
	for i, part := range parts {
		searching.Go(func() { found[i] = c.searchPart(ctx, b, part, cause, len(parts) == 1) })
	}
	searching.Wait()
	return found
}

// searchPart searches a part of a batch. failed is true if the part is known to
// have failed. A failure that may pass, such as a deadlock, is tried once more.
func (c committer) searchPart(ctx context.Context, b batch, plans []task.Plan, cause error, failed bool) (f findings) {
	if !failed || c.fault(cause) == backend.FaultLock {
		if cause = c.submitPart(ctx, b, plans, &f); cause == nil {
			return f
		}
	}
	try := func(ctx context.Context, part []task.Plan, _ bool) error { return c.submitPart(ctx, b, part, &f) }
	found := isolate.Bisect(ctx, plans, cause, isolate.Search[task.Plan]{Try: try, Judge: c.cause})
	for _, culprit := range found.Culprits {
		c.failedAlone(ctx, b, culprit.Item, culprit.Err, &f)
	}
	switch {
	case found.Err == nil || ctx.Err() != nil:
	case c.isolatable(found.Err) && len(found.Left) <= 2*isolate.MaxInARow:
		for _, p := range found.Left { // all alike: the rows need not be to blame
			f.setAside = append(f.setAside, setAside{key: keyOf(p.Task.ID), doing: "submit", err: found.Err, fault: c.fault(found.Err), why: notToBlame})
		}
	case len(f.done) == 0 && len(f.setAside) == 0:
		f.err = fmt.Errorf("submit: %w", found.Err)
	}
	return f
}

// failedAlone skips the tick of a row that the database refuses, and sets aside a
// task that fails for another reason.
func (c committer) failedAlone(ctx context.Context, b batch, p task.Plan, cause error, f *findings) {
	fault := c.fault(cause)
	if fault == backend.FaultRow {
		done, err := c.submit(ctx, aloneWait, b.mark, []task.Plan{refusedPlan(p, cause)})
		if err == nil {
			f.done = append(f.done, batchDone{b, done})
			if p.NextRun.Sub(b.now) < soon {
				f.setAside = append(f.setAside, setAside{key: keyOf(p.Task.ID), err: cause, why: skipped})
			}
			return
		}
		cause = err
	}
	c.blame(ctx, keyOf(p.Task.ID), cause)
	f.setAside = append(f.setAside, setAside{key: keyOf(p.Task.ID), doing: "submit", err: cause, fault: fault, why: failsAlone})
}

// blame writes the problem of a task that is set aside, if the database accepts
// that. It does nothing for a lock, which is no problem of the task.
func (c committer) blame(ctx context.Context, key string, cause error) {
	if c.fault(cause) != backend.FaultLock {
		_ = c.role.update(ctx, aloneWait, func(tx backend.Tx) error {
			return tx.SetProblem(ctx, key, fmt.Sprintf("the task cannot be scheduled: %v", cause))
		})
	}
}

// refusedPlan is a plan without the jobs that the database refuses; its ticks and its
// problem say so.
func refusedPlan(p task.Plan, cause error) task.Plan {
	p.Problem = fmt.Sprintf("the tick could not be submitted: %v", cause)
	p.Cancel = ""
	skip := func(ticks []Tick) []Tick {
		ticks = slices.Clone(ticks)
		for i := range ticks {
			if ticks[i].Decision == Submitted {
				ticks[i].Decision, ticks[i].Reason, ticks[i].JID = Skipped, p.Problem, ""
			}
		}
		return ticks
	}
	p.Ticks, p.Settled = skip(p.Ticks), skip(p.Settled)
	return p
}

func sinksOf(plans []task.Plan) []Sink {
	sinks := map[Sink]bool{}
	for i := range plans {
		if sink := sinkOf(&plans[i]); sink != "" {
			sinks[sink] = true
		}
	}
	return slices.Sorted(maps.Keys(sinks))
}
