package periodic

import (
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic/backend"
)

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
