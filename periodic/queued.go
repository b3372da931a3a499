package periodic

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
)

// Queued ticks wait for the end of a job. The built-in queue tells when a job ends,
// by a trigger; about other queues the scheduler has to ask.

// tend handles queued ticks whose wait may be over, unless the table job cannot be
// used.
func (l *loop) tend(ctx context.Context) (backend.Tended, error) {
	if l.aside.sinks.Has(SinkJob) || l.aside.queued.Len() > 0 {
		return backend.Tended{}, nil
	}
	tended, err := l.store.Tend(ctx, l.untended)
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

// follower looks at the open jobs of queues that are not nextrun's own.
type follower struct {
	due   time.Time     // of the next look
	pause time.Duration // before the one after it; 0: no queued tick waits
	after string        // the task to go on after
	limit int
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
	f.after, f.limit = found.Last, min(2*f.limit, followLimit)
	switch {
	case found.Last != "":
		f.due = now
	case found.Waiting == 0:
		f.pause, f.due = 0, now.Add(poll)
	default:
		f.pause = min(max(2*f.pause, followLeast), followMost)
		if found.Ended > 0 {
			f.pause = followLeast
		}
		f.due = now.Add(f.pause)
	}
}

// failed plans the next look: at fewer jobs, so that one that cannot be looked at
// does not keep the others waiting.
func (f *follower) failed(last string, now time.Time) {
	if f.limit == 1 {
		f.after = last
	}
	f.limit = max(1, f.limit/4)
	f.pause, f.due = followLeast, now.Add(followLeast)
	if f.limit < followLimit/4 {
		f.due = now.Add(clockSlack)
	}
}

// followOpen looks at the open jobs that queued ticks wait for, if it is time. The
// end of one makes its task ready.
func (l *loop) followOpen(ctx context.Context) {
	now := time.Now()
	if len(l.cfg.Submitters) == 0 || now.Before(l.follower.due) {
		return
	}
	if l.follower.limit == 0 {
		l.follower.limit = followLimit
	}
	found, err := l.store.Follow(ctx, backend.Follow{
		Queues: l.cfg.Submitters, Without: l.aside.sinks.Keys(), After: l.follower.after, Limit: l.follower.limit,
	})
	if err != nil {
		l.follower.failed(found.Last, now)
		l.fail("look at open jobs", err)
		return
	}
	l.follower.looked(found, now, l.cfg.PollInterval)
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
