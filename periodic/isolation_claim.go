package periodic

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/periodic/backend"
)

// isolateClaim claims and submits the given tasks, whose claim failed together,
// except for those that fail alone.
func (c committer) isolateClaim(ctx context.Context, claim backend.Claim, keys []string, cause error, newMark func() string) (f findings) {
	f.candidate = keys
	if c.fault(cause) != backend.FaultRow {
		if f.sinks, f.err = c.probeAll(ctx, c.sinksBut(claim.Without.Sinks)); f.err != nil || len(f.sinks) > 0 {
			return f
		}
	}
	claimed := 0
	try := func(ctx context.Context, part []string, _ bool) error {
		some := claim
		some.Mark, some.Only = newMark(), part
		b, err := c.claim(ctx, aloneWait, some)
		if err != nil {
			f.marks = append(f.marks, some.Mark) // whether it was committed is not known
			return err
		}
		claimed += len(b.plans)
		if len(b.plans) > 0 {
			f.add(c.submitOrIsolate(ctx, b))
		}
		return f.err
	}
	found := isolate.Bisect(ctx, keys, cause, isolate.Search[string]{Try: try, Judge: c.cause})
	if f.err != nil || ctx.Err() != nil {
		return f
	}
	if claimed == 0 && c.fault(cause) == backend.FaultUnknown {
		f.err = cause
		return f
	}
	aside := found.Culprits
	if claimed == 0 && len(found.Left) <= 2*isolate.MaxInARow { // all alike
		for _, key := range found.Left {
			aside = append(aside, isolate.Culprit[string]{Item: key, Err: found.Err})
		}
	}
	for _, culprit := range aside {
		c.blame(ctx, culprit.Item, culprit.Err)
		f.setAside = append(f.setAside, setAside{key: culprit.Item, doing: "claim", err: culprit.Err, fault: c.fault(culprit.Err), why: notToBlame})
	}
	if claimed == 0 && len(aside) == 0 {
		f.err = cause
	}
	return f
}

// sinksBut returns all sinks but some.
func (c committer) sinksBut(some []Sink) []Sink {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.queues)), func(s Sink) bool { return slices.Contains(some, s) })
}

// submitOrIsolate submits a batch beside the loop.
func (c committer) submitOrIsolate(ctx context.Context, b batch) findings {
	done, err := c.submit(ctx, batchWait, b.mark, b.plans)
	switch {
	case err == nil:
		return findings{done: []batchDone{{b, done}}}
	case !c.isolatable(err):
		return findings{marks: []string{b.mark}, err: fmt.Errorf("submit: %w", err)}
	}
	return c.isolateSubmit(ctx, b, err)
}

// retryAlone tries a task again that was set aside.
func (c committer) retryAlone(ctx context.Context, key string, task asideTask, claim backend.Claim) (f findings) {
	claim.Limit, claim.Only = 1, []string{key}
	b, err := c.claimAside(ctx, aloneWait, claim, task.why)
	if err != nil {
		f.marks = []string{claim.Mark}
		f.setAside = []setAside{{key: key, doing: "claim", err: err, fault: c.fault(err), why: notToBlame}}
		return f
	}
	f.released = []string{key}
	if len(b.plans) == 0 { // it is not due, gone, or somebody else has it
		if task.verdict == skipped {
			return findings{setAside: []setAside{{key: key, why: skipped}}}
		}
		return f
	}
	done, err := c.submit(ctx, aloneWait, b.mark, b.plans)
	switch {
	case err == nil:
		f.done = []batchDone{{b, done}}
		return f
	case task.verdict == notToBlame:
		f.setAside = []setAside{{key: key, doing: "submit", err: err, fault: c.fault(err), why: notToBlame}}
	default:
		c.failedAlone(ctx, b, b.plans[0], err, &f)
	}
	f.marks = []string{b.mark}
	if len(f.setAside) > 0 {
		f.released = nil
	}
	return f
}
