package periodic

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/aside"
	"github.com/nextrun/nextrun/periodic/internal/search"
)

// queued looks after queued ticks, which wait for the end of a job. The built-in
// queue tells when a job ends, by a trigger; about other queues the scheduler has to
// ask. The loop owns it.
type queued struct {
	cfg      *Config
	store    backend.Store
	search   search.Searcher
	aside    *aside.Aside
	beside   *beside
	follower follower
	untended bool // queued ticks that have no entry in periodic_ready have to be found
}

// tend handles queued ticks whose wait may be over, unless the table job is there and
// cannot be used.
func (q *queued) tend(ctx context.Context) (backend.Tended, error) {
	unusable := q.aside.Sinks.Has(SinkJob) && !errors.Is(q.aside.Sinks.Broken(SinkJob), ErrNoJobs)
	if unusable || q.aside.Queued.Held() {
		return backend.Tended{}, nil
	}
	tended, err := q.store.Tend(ctx, q.untended, q.aside.Apart())
	q.untended = q.untended && err != nil
	if err != nil && q.search.Faults.Isolatable(err) { // perhaps somebody has locked that table
		q.beside.start(func() search.Findings {
			bad, probed := q.search.Probe(ctx, []Sink{SinkJob})
			if probed == nil && len(bad) == 0 {
				return search.Findings{Queued: &err}
			}
			return search.Findings{Sinks: bad, Err: probed}
		})
		return backend.Tended{}, nil
	}
	return tended, err
}

// apart leaves queued ticks alone for a while, since it cannot be read which of them
// can go ahead. Other ticks do not need that.
func (q *queued) apart(err error) {
	if q.aside.Queued.Add(time.Now()) {
		q.cfg.fail("look for queued ticks; others go on", err)
	}
}

// follow looks at the open jobs that queued ticks wait for, if it is time. The end of
// one makes its task ready.
func (q *queued) follow(ctx context.Context) {
	now := time.Now()
	if now.Before(q.follower.due) {
		return
	}
	found, err := q.store.Follow(ctx, backend.Follow{
		Queues: q.cfg.Submitters, Known: q.aside.Sinks.Known, Without: q.aside.Sinks.Keys(),
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
	if !q.search.Faults.Isolatable(err) || q.beside.full() {
		return
	}
	q.beside.start(func() search.Findings {
		bad, err := q.search.Probe(ctx, slices.Sorted(maps.Keys(q.cfg.Submitters)))
		return search.Findings{Sinks: bad, Err: err}
	})
}

// added notes that a tick was queued. If its task's queue is not nextrun's own,
// the job it waits for has to be followed.
func (q *queued) added(sink Sink) {
	if _, foreign := q.cfg.Submitters[sink]; foreign {
		q.follower.soon(time.Now())
	}
}
