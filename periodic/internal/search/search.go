package search

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/aside"
	"github.com/nextrun/nextrun/periodic/internal/batch"
	"github.com/nextrun/nextrun/periodic/task"
)

// aloneWait is how long a transaction waits for a row that somebody else has locked,
// while a row that fails is searched or retried.
const aloneWait = 20 * time.Millisecond

// Searcher searches failed batches. Any goroutine may call it.
type Searcher struct {
	Commit batch.Committer
	Faults Faults
}

// Probe tries sinks and returns the errors of those that cannot be used.
func (s Searcher) Probe(ctx context.Context, sinks []task.Sink) (map[task.Sink]error, error) {
	bad := map[task.Sink]error{}
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
func (s Searcher) probe(ctx context.Context, sink task.Sink) error {
	queue, ok := s.Commit.Queues[sink]
	if !ok {
		return nil
	}
	return s.Commit.Update(ctx, aloneWait, func(tx backend.Tx) error { return queue.Probe(ctx, tx.DBTX()) })
}

// blame writes the problem of a task that is set aside, if the database accepts
// that. It does nothing for a lock, which is no problem of the task.
func (s Searcher) blame(ctx context.Context, key string, cause error) {
	if s.Faults.Of(cause) != backend.FaultLock {
		_ = s.Commit.Update(ctx, aloneWait, func(tx backend.Tx) error {
			return tx.SetProblem(ctx, key, task.Unscheduled(cause))
		})
	}
}

// Retry tries again what was set aside. newMark makes a mark for each task.
func (s Searcher) Retry(ctx context.Context, tries aside.Tries, newMark func() string) Findings {
	f := Findings{Retried: true, Sinks: map[task.Sink]error{}}
	for _, sink := range tries.Sinks {
		f.Sinks[sink] = s.probe(ctx, sink)
	}
	for _, try := range tries.Tasks {
		if ctx.Err() != nil {
			break
		}
		f.Add(s.retryAlone(ctx, try, backend.Claim{Mark: newMark(), Without: tries.Without}))
	}
	return f
}

// retryAlone tries a task again that was set aside.
func (s Searcher) retryAlone(ctx context.Context, try aside.Try, claim backend.Claim) (f Findings) {
	key := try.Key
	claim.Limit, claim.Only = 1, []string{key}
	b, err := s.Commit.Claim(ctx, aloneWait, claim, try.Why)
	if err != nil {
		f.Marks = []string{claim.Mark}
		f.SetAside = []aside.Failed{{Key: key, Doing: "claim", Err: err, Fault: s.Faults.Of(err), Why: aside.NotToBlame}}
		return f
	}
	f.Released = []string{key}
	if len(b.Plans) == 0 { // it is not due, gone, or somebody else has it
		if try.Verdict == aside.Skipped {
			return Findings{SetAside: []aside.Failed{{Key: key, Why: aside.Skipped}}}
		}
		return f
	}
	one := submission{Searcher: s, batch: b}
	err = one.submit(ctx, b.Plans)
	switch {
	case err == nil:
		f.Add(one.found)
		return f
	case try.Verdict == aside.NotToBlame:
		one.note(b.Plans[0], err, s.Faults.Of(err), undecided(s.Faults.Of(err)))
	default:
		one.failedAlone(ctx, b.Plans[0], err, try.Others)
	}
	f.Add(one.found)
	f.Marks = []string{b.Mark}
	if len(f.SetAside) > 0 {
		f.Released = nil
	}
	return f
}
