package periodic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic/backend"
)

// Queued ticks wait for the end of a job. The built-in queue tells when a job ends,
// by a trigger; about other queues the scheduler has to ask.

// tend handles queued ticks whose wait may be over, unless the table job is there and
// cannot be used.
func (l *loop) tend(ctx context.Context) (backend.Tended, error) {
	unusable := l.aside.sinks.Has(SinkJob) && !errors.Is(l.aside.broken[SinkJob], ErrNoJobs)
	if unusable || l.aside.queued.Len() > 0 {
		return backend.Tended{}, nil
	}
	tended, err := l.store.Tend(ctx, l.untended, l.aside.apart())
	l.untended = l.untended && err != nil
	if err != nil && l.commit.isolatable(err) { // perhaps somebody has locked that table
		l.start(func() findings {
			bad, probed := l.commit.probeAll(ctx, []Sink{SinkJob})
			if probed == nil && len(bad) == 0 {
				return findings{queued: &err}
			}
			return findings{sinks: bad, err: probed}
		})
		return backend.Tended{}, nil
	}
	return tended, err
}

// queuedApart leaves queued ticks alone for a while, since it cannot be read which
// of them can go ahead. Other ticks do not need that.
func (l *loop) queuedApart(err error) {
	if l.aside.queued.Add("", time.Now()) {
		l.fail("look for queued ticks; others go on", err)
	}
}

// How often to look at open jobs that queued ticks wait for: soon after a tick was
// queued or a job has ended, then less and less often.
const (
	followLeast = time.Second
	followMost  = 30 * time.Second
	followLimit = 2_000 // jobs at a time
)

// follower looks at the open jobs of queues that are not nextrun's own, page after
// page.
type follower struct {
	due            time.Time     // of the next look
	pause          time.Duration // before the one after it; 0: no queued tick waits
	after          string        // the task to go on after
	limit          int           // of a page
	waiting, ended int           // in this pass over all pages
	failures       int           // in a row
}

// soon has the follower look soon: a tick has been queued.
func (f *follower) soon(now time.Time) {
	f.pause = followLeast
	if next := now.Add(followLeast); f.due.After(next) {
		f.due = next
	}
}

// looked plans the next look.
func (f *follower) looked(found backend.Followed, now time.Time, poll time.Duration) {
	f.after, f.limit, f.failures = found.Last, min(2*f.limit, followLimit), 0
	f.waiting += found.Waiting
	f.ended += found.Ended
	if found.Last != "" { // there are more pages
		f.pause, f.due = max(f.pause, followLeast), now
		return
	}
	switch {
	case f.waiting == 0:
		f.pause, f.due = 0, now.Add(poll)
	case f.ended > 0:
		f.pause, f.due = followLeast, now.Add(followLeast)
	default:
		f.pause = min(max(2*f.pause, followLeast), followMost)
		f.due = now.Add(f.pause)
	}
	f.waiting, f.ended = 0, 0
}

// followTries is how many pages may fail in a row before the follower looks less
// often.
const followTries = 8

// failed plans the next look: at fewer jobs, so that one that cannot be looked at
// does not keep the others waiting.
func (f *follower) failed(last string, now time.Time) {
	if f.limit == 1 {
		f.after = last
	}
	f.limit = max(1, f.limit/8)
	f.failures++
	f.pause, f.due = followLeast, now.Add(clockSlack)
	if f.failures > followTries {
		f.due = now.Add(service.Delay(f.failures-followTries, followLeast, followMost))
	}
}

// followOpen looks at the open jobs that queued ticks wait for, if it is time. The
// end of one makes its task ready.
func (l *loop) followOpen(ctx context.Context) {
	now := time.Now()
	if now.Before(l.follower.due) {
		return
	}
	if l.follower.limit == 0 {
		l.follower.limit = followLimit
	}
	found, err := l.store.Follow(ctx, backend.Follow{
		Queues: l.cfg.Submitters, Known: l.aside.known, Without: l.aside.sinks.Keys(),
		After: l.follower.after, Limit: l.follower.limit,
	})
	if err == nil {
		l.follower.looked(found, now, l.cfg.PollInterval)
		return
	}
	if l.follower.failed(found.Last, now); l.follower.failures > 1 {
		return // said already
	}
	l.fail("look at open jobs", err)
	if !l.commit.isolatable(err) || l.workers >= maxBeside {
		return
	}
	l.start(func() findings {
		bad, err := l.commit.probeAll(ctx, slices.Sorted(maps.Keys(l.cfg.Submitters)))
		return findings{sinks: bad, err: err}
	})
}

// findStray sets the problem of tasks that wait because this scheduler does not know
// their sink, or because that cannot be used, and that no other scheduler has taken.
func (l *loop) findStray(ctx context.Context) {
	stray, err := l.store.Stray(ctx, l.aside.usable(), l.strayProblem)
	if err != nil {
		l.fail("look for tasks whose sink cannot be used", err)
		return
	}
	for _, t := range stray {
		if l.aside.broken[t.Sink] == nil { // else the sink is reported, once
			l.observe(Event{Kind: EventProblem, Task: &t, Problem: noQueue(t.Sink)})
		}
	}
}

func (l *loop) strayProblem(sink Sink) string {
	if err := l.aside.broken[sink]; err != nil {
		return fmt.Sprintf("the ticks wait: %v", err)
	}
	return noQueue(sink)
}
