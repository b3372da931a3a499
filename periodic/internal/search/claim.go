package search

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/aside"
	"github.com/nextrun/nextrun/periodic/internal/batch"
	"github.com/nextrun/nextrun/periodic/task"
)

// Claim claims and submits the given tasks, whose claim failed together, except for
// those that fail alone.
func (s Searcher) Claim(ctx context.Context, claim backend.Claim, keys []string, cause error, newMark func() string) (f Findings) {
	f.Candidate = keys
	if s.Faults.Of(cause) != backend.FaultRow {
		if f.Sinks, f.Err = s.Probe(ctx, s.sinksBut(claim.Without.Sinks)); f.Err != nil || len(f.Sinks) > 0 {
			return f
		}
	}
	claimed := 0
	try := func(ctx context.Context, part []string, _ bool) error {
		some := claim
		some.Mark, some.Only = newMark(), part
		b, err := s.Commit.Claim(ctx, aloneWait, some, "")
		if err != nil {
			f.Marks = append(f.Marks, some.Mark) // whether it was committed is not known
			return err
		}
		claimed += len(b.Plans)
		if len(b.Plans) > 0 {
			f.Add(s.submitOrSearch(ctx, b))
		}
		return f.Err
	}
	found := isolate.Bisect(ctx, keys, cause, isolate.Search[string]{Try: try, Judge: s.Faults.cause})
	if f.Err != nil || ctx.Err() != nil {
		return f
	}
	if claimed == 0 && s.Faults.Of(cause) == backend.FaultUnknown {
		f.Err = cause
		return f
	}
	culprits := found.Culprits
	if claimed == 0 && len(found.Left) <= 2*isolate.MaxInARow { // all alike
		for _, key := range found.Left {
			culprits = append(culprits, isolate.Culprit[string]{Item: key, Err: found.Err})
		}
	}
	for _, culprit := range culprits {
		s.blame(ctx, culprit.Item, culprit.Err)
		f.SetAside = append(f.SetAside, aside.Failed{Key: culprit.Item, Doing: "claim", Err: culprit.Err, Fault: s.Faults.Of(culprit.Err), Why: aside.NotToBlame})
	}
	if claimed == 0 && len(culprits) == 0 {
		f.Err = cause
	}
	return f
}

// sinksBut returns all sinks but some.
func (s Searcher) sinksBut(some []task.Sink) []task.Sink {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Commit.Queues)), func(sink task.Sink) bool { return slices.Contains(some, sink) })
}

// submitOrSearch submits a batch, and searches it if that fails.
func (s Searcher) submitOrSearch(ctx context.Context, b batch.Batch) Findings {
	done, err := s.Commit.Submit(ctx, batch.Wait, b.Mark, b.Plans)
	switch {
	case err == nil:
		return Findings{Done: []Done{{b, done}}}
	case !s.Faults.Isolatable(err):
		return Findings{Marks: []string{b.Mark}, Err: fmt.Errorf("submit: %w", err)}
	}
	return s.Submit(ctx, b, err)
}
