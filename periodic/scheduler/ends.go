package scheduler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// How to ask other queues for the ends of jobs.
const (
	endsEvery   = time.Second // between two questions, of two statements each
	endsMost    = time.Minute // after many that failed
	endsLimit   = 1000        // jobs at a time
	endsTimeout = 10 * time.Second
)

// ends asks the queues that are not nextrun's own how their jobs ended. It has a goroutine of its
// own, since a queue may take long to answer. The loop tells it when it is time.
type ends struct {
	cfg   *Config
	store Store
	role  role
	tell  []periodic.Sink // the queues that are asked
	wake  chan struct{}

	// Only its goroutine uses these.
	limit int
	asked time.Time
	bad   map[string]bool         // the jobs whose end could not be recorded, by id: each is named once
	mute  map[periodic.Sink]*mute // queues that did not answer

	mu  sync.Mutex
	due time.Time // zero: no job is open, as far as is known
}

// mute is a queue that did not answer. It is asked again after a pause that grows.
type mute struct {
	pause service.Backoff
	again time.Time
}

func newEnds(store Store, cfg *Config, r role) *ends {
	return &ends{
		cfg: cfg, store: store, role: r, tell: slices.Sorted(maps.Keys(cfg.Submitters)), wake: make(chan struct{}, 1),
		limit: endsLimit, bad: map[string]bool{}, mute: map[periodic.Sink]*mute{},
	}
}

// within has the queues asked after a time, or sooner if that is planned.
func (e *ends) within(wait time.Duration) {
	e.mu.Lock()
	at := time.Now().Add(wait)
	sooner := e.due.IsZero() || at.Before(e.due)
	if sooner {
		e.due = at
	}
	e.mu.Unlock()
	if sooner {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	}
}

// added notes that a job of a queue was submitted.
func (e *ends) added(sink periodic.Sink, tick periodic.Tick) {
	if e.cfg.Submitters[sink] != nil && tick.Decision == periodic.Submitted {
		e.within(endsEvery)
	}
}

// peeked notes when it is the turn of a job.
func (e *ends) peeked(p batch.Work) {
	if !p.AskEndsAt.IsZero() {
		e.within(p.AskEndsAt.Sub(p.Now))
	}
}

// run asks when it is time, until ctx ends.
func (e *ends) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		case <-e.timer():
			if e.role.schedules() {
				e.ask(ctx)
			}
		}
	}
}

// timer fires when it is time. Nothing is planned from then on.
func (e *ends) timer() <-chan time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.due.IsZero() {
		return nil
	}
	if soonest := e.asked.Add(endsEvery); e.due.Before(soonest) {
		e.due = soonest
	}
	return time.After(time.Until(e.due))
}

// ask asks one queue, and plans the next time. It reports whether more is to be asked at once:
// most of many jobs had ended.
func (e *ends) ask(ctx context.Context) (more bool) {
	e.mu.Lock()
	e.due = time.Time{}
	e.mu.Unlock()
	e.asked = time.Now()
	answering := e.answering()
	defer func() {
		for _, m := range e.mute {
			e.within(max(time.Until(m.again), endsEvery))
		}
	}()
	if len(answering) == 0 {
		return false
	}
	found, err := e.store.AskEnds(ctx, batch.AskEnds{Queues: answering, Hooks: e.cfg.Hooks, Limit: e.limit, Timeout: endsTimeout})
	if err != nil {
		m := e.mute[found.Sink]
		if m == nil {
			m = &mute{pause: service.Backoff{Least: endsEvery, Most: endsMost}}
			if e.mute[found.Sink] = m; ctx.Err() == nil {
				e.cfg.fail("ask another queue how jobs ended; ticks go on", err)
			}
		}
		m.again = e.asked.Add(m.pause.Next())
		e.limit = max(1, e.limit/8) // one that cannot be asked about does not keep others waiting
		return false
	}
	delete(e.mute, "")
	delete(e.mute, found.Sink)
	more = found.Asked == e.limit && len(found.Ended) > found.Asked/2
	e.limit = min(2*e.limit, endsLimit)
	e.observe(found.Ended, found.Sink)
	e.name(found)
	switch {
	case more:
		e.asked = time.Time{}
		e.within(0)
	case found.Asked > 0:
		e.within(endsEvery)
	case !found.Next.IsZero():
		e.within(found.Next.Sub(found.Now))
	}
	return more
}

func (e *ends) observe(ended []batch.EndedTick, sink periodic.Sink) {
	for _, t := range ended {
		e.cfg.observe(Event{Kind: EventEnded, Task: t.Task, Tick: t.Tick, Sink: sink})
	}
}

// name names the jobs whose end cannot be read or recorded. They have another turn, after a pause that grows.
func (e *ends) name(found batch.Ends) {
	for _, b := range found.Bad {
		if e.bad[b.JID] {
			continue
		}
		if len(e.bad) == endsLimit {
			clear(e.bad)
		}
		e.bad[b.JID] = true
		e.cfg.fail("record how a job ended; others go on", fmt.Errorf("task %q, job %s in the queue %s: %w", b.TaskID, b.JID, found.Sink, b.Err))
	}
}

// answering are the queues without those that have failed and are not to be tried yet. An empty
// name holds all of them: nextrun's own tables could not be read.
func (e *ends) answering() periodic.Submitters {
	queues := maps.Clone(e.cfg.Submitters)
	for sink, m := range e.mute {
		if !m.again.After(e.asked) {
			continue
		}
		if sink == "" {
			return nil
		}
		delete(queues, sink)
	}
	return queues
}

// once asks about all jobs whose turn it is.
func (e *ends) once(ctx context.Context) {
	for e.ask(ctx) && ctx.Err() == nil {
	}
}
