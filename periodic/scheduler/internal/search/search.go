package search

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/aside"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// aloneWait is how long a transaction waits for a row that somebody else has locked,
// while a row that fails is searched or retried.
const aloneWait = 20 * time.Millisecond

// Searcher searches failed batches. Any goroutine may call it.
type Searcher struct {
	Commit batch.Committer
	Faults Faults
	Fed    func(context.Context, []periodic.Sink) ([]periodic.Sink, error) // those of some sinks that tasks have
}

// Search takes those of the given tasks that can be taken, after a batch of them failed with an
// error: without sinks that cannot be used, and without those that fail alone.
func (s Searcher) Search(ctx context.Context, keys []string, exclude taskdb.Exclude, cause error) Findings {
	exclude.IDs = nil
	all := part{Searcher: s, without: exclude}
	all.found.Searched = keys
	keys, cause = all.postpone(ctx, keys, cause)
	if cause != nil && s.Faults.Of(cause) != taskdb.FaultRow {
		all.found.Sinks, all.found.Err = s.Probe(ctx, s.sinksBut(exclude.Sinks))
		if all.found.Err != nil || len(all.found.Sinks) > 0 { // the next batches leave them out
			return all.found
		}
	}
	if cause != nil {
		all.divide(ctx, keys, cause)
	}
	return all.found
}

// part is the search of some tasks. One goroutine owns it.
type part struct {
	Searcher

	without taskdb.Exclude
	why     string             // the tasks were set aside until now
	failed  map[string]failure // by key: of tasks that were tried alone
	found   Findings
}

// failure is a try of a single task that failed.
type failure struct {
	plan  *decide.Plan // nil: the task could not be read
	began time.Time
	now   time.Time
}

// take takes some of the tasks, and notes what was committed. If refused is not nil, their jobs are
// refused for that, and their ticks skipped.
func (s *part) take(ctx context.Context, keys []string, refused error) error {
	var b batch.Batch
	began := time.Now()
	done, err := s.Commit.Take(ctx, aloneWait, taskdb.Claim{Limit: len(keys), Only: keys, Exclude: s.without}, batch.Alone{Why: s.why, Refuse: refused}, func(claimed batch.Batch) { b = claimed })
	switch {
	case err == nil && len(b.Plans) > 0:
		s.found.Committed = append(s.found.Committed, Committed{b, done})
	case err != nil && len(keys) == 1:
		f := failure{began: began, now: b.Now}
		if len(b.Plans) > 0 {
			f.plan = &b.Plans[0]
		}
		if s.failed == nil {
			s.failed = map[string]failure{}
		}
		s.failed[keys[0]] = f
	}
	return err
}

// postpone sets the tasks aside whose queue may take their jobs later, if that is why the
// batch failed, and takes the others. It returns these, and why that fails.
func (s *part) postpone(ctx context.Context, keys []string, cause error) ([]string, error) {
	for later := (batch.LaterError{}); errors.As(cause, &later); {
		for id, reason := range later {
			key := id
			keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == key })
			s.setAside(ctx, key, errors.New(reason), aside.NotToBlame)
		}
		if len(keys) == 0 {
			return nil, nil
		}
		cause = s.take(ctx, keys, nil)
	}
	return keys, cause
}

// parts is how many parts of a batch are searched at the same time. Searching
// in parallel helps because it mostly waits for locks.
const parts = 4

// divide takes tasks that failed together, in parts, without those that fail alone.
func (s *part) divide(ctx context.Context, keys []string, cause error) {
	chunks := slices.Collect(slices.Chunk(keys, max(len(keys)/parts+1, parts)))
	found := make([]part, len(chunks))
	culprits := make([][]isolate.Culprit[string], len(chunks))
	var searching sync.WaitGroup
	for i, chunk := range chunks {
		found[i] = part{Searcher: s.Searcher, without: s.without}
		searching.Go(func() { culprits[i] = found[i].search(ctx, chunk, cause, len(chunks) == 1) })
	}
	searching.Wait()
	for _, more := range found {
		s.found.Add(more.found)
	}
	if s.unreadable(found, cause) {
		s.found = Findings{Searched: s.found.Searched, Err: cause}
		return
	}
	sinks := s.submittedTo()
	for i := range found {
		for _, culprit := range culprits[i] {
			s.failed = found[i].failed
			s.judge(ctx, culprit, sinks)
		}
	}
}

// unreadable reports whether no task could be read, for a reason that is not known: then no row is
// to blame.
func (s *part) unreadable(found []part, cause error) bool {
	var claim *batch.ClaimError
	if len(s.found.Committed) > 0 || !errors.As(cause, &claim) || s.Faults.Of(cause) != taskdb.FaultUnknown {
		return false
	}
	for _, p := range found {
		for _, f := range p.failed {
			if f.plan != nil {
				return false
			}
		}
	}
	return true
}

// search searches tasks, and returns those that fail alone. failed is true if they are known
// to have failed together. A failure that may pass, such as a deadlock, is tried once more.
func (s *part) search(ctx context.Context, keys []string, cause error, failed bool) []isolate.Culprit[string] {
	if !failed || s.Faults.Of(cause) == taskdb.FaultLock {
		if cause = s.take(ctx, keys, nil); cause == nil {
			return nil
		}
	}
	try := func(ctx context.Context, some []string, _ bool) error { return s.take(ctx, some, nil) }
	found := isolate.Bisect(ctx, keys, cause, isolate.Search[string]{Try: try, Judge: s.Faults.cause})
	switch {
	case found.Err == nil || ctx.Err() != nil:
	case s.Faults.Isolatable(found.Err) && len(found.Left) <= 2*isolate.MaxInARow: // all alike: the rows need not be to blame
		for _, key := range found.Left {
			s.note(key, found.Err, undecided(s.Faults.Of(found.Err)))
		}
	case len(s.found.Committed) == 0 && len(s.found.SetAside) == 0 && len(found.Culprits) == 0:
		s.found.Err = found.Err
	}
	return found.Culprits
}

// submittedTo returns the sinks to which tasks of the batch have submitted.
func (s *part) submittedTo() map[periodic.Sink]bool {
	sinks := map[periodic.Sink]bool{}
	for _, done := range s.found.Committed {
		for _, t := range done.Outcome.Ticks {
			if t.Decision == periodic.Submitted {
				sinks[done.Outcome.Plans[t.TaskID].Task.Sink] = true
			}
		}
	}
	return sinks
}

// sinksBut returns all sinks but some.
func (s Searcher) sinksBut(some []periodic.Sink) []periodic.Sink {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Commit.Queues)), func(sink periodic.Sink) bool { return slices.Contains(some, sink) })
}
