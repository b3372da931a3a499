package search

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/aside"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// judge deals with a task that failed alone. sinks are those to which others have submitted
// meanwhile: then the task is tried once more, in case its sink had refused all before.
func (s *part) judge(ctx context.Context, c isolate.Culprit[string], sinks map[periodic.Sink]bool) {
	if _, tried := s.failed[c.Item]; !tried {
		if c.Err = s.take(ctx, []string{c.Item}, nil); c.Err == nil {
			return
		}
	}
	f := s.failed[c.Item]
	others := f.plan != nil && sinks[f.plan.Task.Sink]
	if others && s.Faults.Of(c.Err) == taskdb.FaultRow {
		if c.Err = s.take(ctx, []string{c.Item}, nil); c.Err == nil {
			return
		}
	}
	s.failedAlone(ctx, c.Item, c.Err, others)
}

// undecided is the verdict on a task that failed, while nobody knows whether its row is to blame.
func undecided(fault taskdb.Fault) aside.Verdict {
	if fault == taskdb.FaultRow {
		return aside.Refused
	}
	return aside.NotToBlame
}

// soon: a task whose job was refused, and which ticks again sooner than this, is
// tried alone.
const soon = time.Minute

// failedAlone skips the tick of a row that the database refuses, if others have submitted to
// the same sink, and sets aside a task that fails for another reason.
func (s *part) failedAlone(ctx context.Context, key string, cause error, others bool) {
	fault := s.Faults.Of(cause)
	if f := s.failed[key]; f.plan != nil && fault == taskdb.FaultRow && others {
		err := s.take(ctx, []string{key}, cause)
		if err == nil {
			if f.plan.NextRun.Sub(f.now) < soon {
				s.found.SetAside = append(s.found.SetAside, aside.Failed{Key: key, Err: cause, Why: aside.Skipped, Sink: f.plan.Task.Sink, Began: f.began})
			}
			return
		}
		cause, fault = err, s.Faults.Of(err)
	}
	s.setAside(ctx, key, cause, undecided(fault))
}

// setAside notes a task that is to be set aside, and writes its problem.
func (s *part) setAside(ctx context.Context, key string, cause error, why aside.Verdict) {
	if s.Faults.Of(cause) != taskdb.FaultLock { // which is no problem of the task
		_ = s.Commit.Update(ctx, aloneWait, func(tx taskdb.Tx) error { return tx.SetProblem(ctx, key, reasons.Unscheduled(unwrapped(cause))) })
	}
	s.note(key, cause, why)
}

// note notes a task that is to be set aside.
func (s *part) note(key string, cause error, why aside.Verdict) {
	f := s.failed[key]
	failed := aside.Failed{Key: key, Doing: "submit", Err: unwrapped(cause), Fault: s.Faults.Of(cause), Why: why, Began: f.began}
	if f.plan != nil {
		failed.Sink = f.plan.Task.Sink
	}
	if claim := (*batch.ClaimError)(nil); errors.As(cause, &claim) {
		failed.Doing, failed.Why = "claim", aside.NotToBlame
	}
	s.found.SetAside = append(s.found.SetAside, failed)
}

// unwrapped is an error without what was being done.
func unwrapped(err error) error {
	if claim := (*batch.ClaimError)(nil); errors.As(err, &claim) {
		return claim.Err
	}
	return err
}

// Probe tries sinks and returns the errors of those that cannot be used. Those that no task has are of no
// interest: a program that feeds another queue need not have a table job that works.
func (s Searcher) Probe(ctx context.Context, sinks []periodic.Sink) (map[periodic.Sink]error, error) {
	bad := map[periodic.Sink]error{}
	if fed, err := s.Fed(ctx, sinks); err == nil {
		sinks = fed
	}
	for _, sink := range sinks {
		err := s.probe(ctx, sink)
		if err != nil && !s.Faults.Isolatable(err) {
			return nil, err
		}
		if err != nil {
			bad[sink] = err
		}
	}
	return bad, nil
}

// probe checks whether a sink takes jobs at all.
func (s Searcher) probe(ctx context.Context, sink periodic.Sink) error {
	queue, ok := s.Commit.Queues[sink]
	if !ok {
		return nil
	}
	return s.Commit.Update(ctx, aloneWait, func(tx taskdb.Tx) error { return queue.Probe(ctx, tx.DBTX()) })
}

// Retry tries again what was set aside.
func (s Searcher) Retry(ctx context.Context, tries aside.Tries) Findings {
	f := Findings{Retried: true, Sinks: map[periodic.Sink]error{}}
	for _, sink := range tries.Sinks {
		f.Sinks[sink] = s.probe(ctx, sink)
	}
	for _, try := range tries.Tasks {
		if ctx.Err() != nil {
			break
		}
		one := part{Searcher: s, without: tries.Without, why: try.Why}
		one.retry(ctx, try)
		f.Add(one.found)
	}
	return f
}

// retry tries a task again that was set aside.
func (s *part) retry(ctx context.Context, try aside.Try) {
	err := s.take(ctx, []string{try.Key}, nil)
	switch {
	case err == nil && len(s.found.Committed) == 0 && try.Verdict == aside.Skipped: // not due yet, or somebody else has it
		s.found.SetAside = []aside.Failed{{Key: try.Key, Why: aside.Skipped}}
		return
	case err == nil:
	case try.Verdict == aside.NotToBlame || s.failed[try.Key].plan == nil:
		s.note(try.Key, err, undecided(s.Faults.Of(err)))
	default:
		s.failedAlone(ctx, try.Key, err, try.Others)
	}
	if len(s.found.SetAside) == 0 {
		s.found.Released = []string{try.Key}
	}
}
