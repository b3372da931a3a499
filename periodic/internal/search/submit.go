package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/aside"
	"github.com/nextrun/nextrun/periodic/internal/batch"
	"github.com/nextrun/nextrun/periodic/task"
)

// submission is the search of a batch, or of a part of it, that could not be
// submitted. One goroutine owns it.
type submission struct {
	Searcher
	batch batch.Batch
	found Findings
}

// Submit submits those plans of a batch that can be submitted, after the batch
// failed with an error. It leaves out sinks that cannot be used and tasks that fail
// alone.
func (s Searcher) Submit(ctx context.Context, b batch.Batch, cause error) Findings {
	all := submission{Searcher: s, batch: b, found: Findings{Marks: []string{b.Mark}}}
	plans, cause := all.postpone(ctx, b.Plans, cause)
	if cause != nil && s.Faults.Of(cause) != backend.FaultRow {
		plans, cause = all.leaveOutSinks(ctx, plans, cause)
	}
	if cause != nil && all.found.Err == nil {
		all.divide(ctx, plans, cause)
	}
	return all.found
}

// submit submits some plans of the batch and notes what was committed.
func (s *submission) submit(ctx context.Context, plans []task.Plan) error {
	done, err := s.Commit.Submit(ctx, aloneWait, s.batch.Mark, plans)
	if err == nil {
		crashpoint.At("scheduler/part-committed")
		s.found.Done = append(s.found.Done, Done{s.batch, done})
	}
	return err
}

// without submits the plans but those that leave says. It returns them, and the
// error of the transaction.
func (s *submission) without(ctx context.Context, plans []task.Plan, leave func(task.Plan) bool) ([]task.Plan, error) {
	plans = slices.DeleteFunc(slices.Clone(plans), leave)
	if len(plans) == 0 {
		return nil, nil
	}
	return plans, s.submit(ctx, plans)
}

// postpone sets the tasks aside whose queue may take their jobs later, if that is
// why the plans could not be submitted, and submits the others. It returns these,
// and why that fails.
func (s *submission) postpone(ctx context.Context, plans []task.Plan, cause error) ([]task.Plan, error) {
	for later := (batch.LaterError{}); errors.As(cause, &later); {
		plans, cause = s.without(ctx, plans, func(p task.Plan) bool {
			reason, postponed := later[p.Task.ID]
			if postponed {
				s.setAside(ctx, p, errors.New(reason), backend.FaultUnknown, aside.NotToBlame)
			}
			return postponed
		})
	}
	return plans, cause
}

// leaveOutSinks submits the plans whose sinks can be used, if others cannot.
func (s *submission) leaveOutSinks(ctx context.Context, plans []task.Plan, cause error) ([]task.Plan, error) {
	s.found.Sinks, s.found.Err = s.Probe(ctx, sinksOf(plans))
	if s.found.Err != nil || len(s.found.Sinks) == 0 {
		return plans, cause
	}
	return s.without(ctx, plans, func(p task.Plan) bool { _, bad := s.found.Sinks[sinkOf(&p)]; return bad })
}

// parts is how many parts of a batch are searched at the same time. Searching
// in parallel helps because it mostly waits for locks.
const parts = 4

// divide submits plans that failed together, in parts, without those that fail
// alone.
func (s *submission) divide(ctx context.Context, plans []task.Plan, cause error) {
	chunks := slices.Collect(slices.Chunk(plans, max(len(plans)/parts+1, parts)))
	found := make([]Findings, len(chunks))
	culprits := make([][]isolate.Culprit[task.Plan], len(chunks))
	var searching sync.WaitGroup
	for i, chunk := range chunks {
		searching.Go(func() {
			part := submission{Searcher: s.Searcher, batch: s.batch}
			culprits[i] = part.search(ctx, chunk, cause, len(chunks) == 1)
			found[i] = part.found
		})
	}
	searching.Wait()
	for _, more := range found {
		s.found.Add(more)
	}
	sinks := s.submittedTo()
	for _, culprit := range slices.Concat(culprits...) {
		s.judge(ctx, culprit, sinks[culprit.Item.Task.Sink])
	}
}

// search searches plans, and returns those that fail alone. failed is true if they are known
// to have failed together. A failure that may pass, such as a deadlock, is tried once more.
func (s *submission) search(ctx context.Context, plans []task.Plan, cause error, failed bool) []isolate.Culprit[task.Plan] {
	if !failed || s.Faults.Of(cause) == backend.FaultLock {
		if cause = s.submit(ctx, plans); cause == nil {
			return nil
		}
	}
	try := func(ctx context.Context, part []task.Plan, _ bool) error { return s.submit(ctx, part) }
	found := isolate.Bisect(ctx, plans, cause, isolate.Search[task.Plan]{Try: try, Judge: s.Faults.cause})
	switch {
	case found.Err == nil || ctx.Err() != nil:
	case s.Faults.Isolatable(found.Err) && len(found.Left) <= 2*isolate.MaxInARow: // all alike: the rows need not be to blame
		for _, p := range found.Left {
			s.note(p, found.Err, s.Faults.Of(found.Err), undecided(s.Faults.Of(found.Err)))
		}
	case len(s.found.Done) == 0 && len(s.found.SetAside) == 0 && len(found.Culprits) == 0:
		s.found.Err = fmt.Errorf("submit: %w", found.Err)
	}
	return found.Culprits
}

// submittedTo returns the sinks to which plans of the batch were submitted.
func (s *submission) submittedTo() map[task.Sink]bool {
	sinks := map[task.Sink]bool{}
	for _, done := range s.found.Done {
		for _, t := range done.Outcome.Ticks {
			if t.Decision == task.Submitted {
				sinks[done.Outcome.Plans[t.TaskID].Task.Sink] = true
			}
		}
	}
	return sinks
}

// judge deals with a plan that failed alone. others is true if another task has submitted to its
// sink meanwhile. Then the plan is tried once more, in case the sink had refused all before.
func (s *submission) judge(ctx context.Context, c isolate.Culprit[task.Plan], others bool) {
	if others && s.Faults.Of(c.Err) == backend.FaultRow {
		if c.Err = s.submit(ctx, []task.Plan{c.Item}); c.Err == nil {
			return
		}
	}
	s.failedAlone(ctx, c.Item, c.Err, others)
}

// undecided is the verdict on a task that failed, while nobody knows whether its row is to blame.
func undecided(fault backend.Fault) aside.Verdict {
	if fault == backend.FaultRow {
		return aside.Refused
	}
	return aside.NotToBlame
}

// soon: a task whose job was refused, and which ticks again sooner than this, is
// tried alone.
const soon = time.Minute

// failedAlone skips the tick of a row that the database refuses, if others have submitted to
// the same sink, and sets aside a task that fails for another reason.
func (s *submission) failedAlone(ctx context.Context, p task.Plan, cause error, others bool) {
	fault := s.Faults.Of(cause)
	if fault == backend.FaultRow && others {
		err := s.submit(ctx, []task.Plan{refusedPlan(p, cause)})
		if err == nil {
			if p.NextRun.Sub(s.batch.Now) < soon {
				s.found.SetAside = append(s.found.SetAside, aside.Failed{Key: batch.Key(p.Task.ID), Err: cause, Why: aside.Skipped, Sink: p.Task.Sink, Began: s.batch.Begun})
			}
			return
		}
		cause, fault = err, s.Faults.Of(err)
	}
	s.setAside(ctx, p, cause, fault, undecided(fault))
}

// setAside notes a task that is to be set aside, and writes its problem.
func (s *submission) setAside(ctx context.Context, p task.Plan, cause error, fault backend.Fault, why aside.Verdict) {
	s.blame(ctx, batch.Key(p.Task.ID), cause)
	crashpoint.At("scheduler/blamed")
	s.note(p, cause, fault, why)
}

// note notes a task that is to be set aside.
func (s *submission) note(p task.Plan, cause error, fault backend.Fault, why aside.Verdict) {
	s.found.SetAside = append(s.found.SetAside, aside.Failed{Key: batch.Key(p.Task.ID), Doing: "submit", Err: cause, Fault: fault, Why: why, Sink: p.Task.Sink, Began: s.batch.Begun})
}
