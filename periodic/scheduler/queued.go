package scheduler

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/aside"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/search"
)

// queued looks after queued ticks, which wait for the end of a job. The built-in
// queue tells when a job ends, by a trigger; about other queues the scheduler has to
// ask. The loop owns it.
type queued struct {
	cfg        *Config
	store      taskdb.Store
	search     search.Searcher
	aside      *aside.Aside
	background *background
	follower   follower
	untended   bool // queued ticks that have no entry in periodic_ready have to be found
	open       bool // the last poll has seen jobs that queued ticks may wait for
}

// tend handles queued ticks whose wait may be over, unless the table job cannot be used.
func (q *queued) tend(ctx context.Context) (taskdb.Tended, error) {
	if q.aside.Sinks.Has(periodic.SinkJob) || q.aside.Queued.Held() {
		return taskdb.Tended{}, nil
	}
	tended, err := q.store.Tend(ctx, q.untended, q.aside.Exclude())
	q.untended = q.untended && err != nil
	if err != nil && q.search.Faults.Isolatable(err) { // perhaps somebody has locked that table
		q.background.start(func() search.Findings {
			bad, probed := q.search.Probe(ctx, []periodic.Sink{periodic.SinkJob})
			if probed == nil && len(bad) == 0 {
				return search.Findings{Queued: &err}
			}
			return search.Findings{Sinks: bad, Err: probed}
		})
		return taskdb.Tended{}, nil
	}
	return tended, err
}

// apart stops serving queued ticks for a while, because periodic_ready cannot be read.
// Other ticks go on.
func (q *queued) setAside(err error) {
	if q.aside.Queued.Add(time.Now()) {
		q.cfg.fail("look for queued ticks; others go on", err)
	}
}

// next is when to look at open jobs; zero: there are none.
func (q *queued) next() time.Time {
	if !q.open {
		return time.Time{}
	}
	return q.follower.due
}

// follow looks at the open jobs that queued ticks wait for. The end of one makes its task ready.
func (q *queued) follow(ctx context.Context) {
	now := time.Now()
	found, err := q.store.Follow(ctx, taskdb.Follow{
		Queues: q.cfg.Submitters, Known: q.aside.Sinks.Known, Exclude: q.aside.Sinks.Keys(),
		After: q.follower.after, Limit: q.follower.limit,
	})
	if err == nil {
		q.follower.looked(found, now, q.cfg.PollInterval)
		return
	}
	if q.follower.failed(found.Last, now); q.follower.failures > 1 {
		return // said already
	}
	q.cfg.fail("look at open jobs", err)
	if !q.search.Faults.Isolatable(err) || q.background.full() {
		return
	}
	q.background.start(func() search.Findings {
		bad, err := q.search.Probe(ctx, slices.Sorted(maps.Keys(q.cfg.Submitters)))
		return search.Findings{Sinks: bad, Err: err}
	})
}

// added notes that a tick was queued. If its task's queue is not nextrun's own,
// the job it waits for has to be followed.
func (q *queued) added(sink periodic.Sink) {
	if _, foreign := q.cfg.Submitters[sink]; foreign {
		q.follower.soon(time.Now())
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
func (f *follower) looked(found taskdb.Followed, now time.Time, poll time.Duration) {
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
