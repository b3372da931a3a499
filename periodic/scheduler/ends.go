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

// ends asks the queues that are not nextrun's own how their jobs ended. Each has its own goroutine, since one may take
// long to answer, or fail. The loop says when it is time.
type ends struct {
	role   role
	sinks  []periodic.Sink // the queues that are asked
	askers map[periodic.Sink]*asker
}

func newEnds(store Store, cfg *Config, r role) *ends {
	e := &ends{role: r, sinks: slices.Sorted(maps.Keys(cfg.Submitters)), askers: map[periodic.Sink]*asker{}}
	for _, sink := range e.sinks {
		e.askers[sink] = &asker{
			cfg: cfg, store: store, sink: sink, bad: map[string]bool{},
			pause: service.Backoff{Least: endsEvery, Most: endsMost}, sooner: make(chan time.Time, 1),
		}
	}
	return e
}

// added notes that a job of a queue was submitted.
func (e *ends) added(sink periodic.Sink, tick periodic.Tick) {
	if a := e.askers[sink]; a != nil && tick.Decision == periodic.Submitted {
		a.within(endsEvery)
	}
}

// looked notes when it is the turn of a job.
func (e *ends) looked(w batch.Work) {
	for _, a := range e.askers {
		if !w.AskEndsAt.IsZero() {
			a.within(w.AskEndsAt.Sub(w.Now))
		}
	}
}

// run asks when it is time, until ctx ends.
func (e *ends) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, a := range e.askers {
		all.Go(func() { a.run(ctx, e.role.schedules) })
	}
	all.Wait()
}

// once asks about all jobs whose turn it is.
func (e *ends) once(ctx context.Context) {
	for _, a := range e.askers {
		for isDue(a.ask(ctx)) && ctx.Err() == nil {
		}
	}
}

// asker asks one queue.
type asker struct {
	cfg    *Config
	store  Store
	sink   periodic.Sink
	sooner chan time.Time // when the loop wants it asked, until its goroutine knows

	// Only its goroutine uses these.
	soonest time.Time       // when it may be asked again
	pause   service.Backoff // after it has failed
	failed  bool
	bad     map[string]bool // the jobs whose end could not be recorded, by id: each is named once
}

// within plans to ask the queue after a time, unless it is planned sooner. Only the loop calls it.
func (a *asker) within(wait time.Duration) {
	at := time.Now().Add(wait)
	select {
	case planned := <-a.sooner:
		at = earlier(at, planned)
	default:
	}
	a.sooner <- at
}

// run asks when it is time and the scheduler schedules, until ctx ends.
func (a *asker) run(ctx context.Context, schedules func() bool) {
	var due time.Time // zero: no job is open, as far as is known
	for {
		var timer <-chan time.Time
		if !due.IsZero() {
			timer = time.After(max(time.Until(due), time.Until(a.soonest)))
		}
		select {
		case <-ctx.Done():
			return
		case at := <-a.sooner:
			due = earlier(due, at)
		case <-timer:
			if due = (time.Time{}); schedules() {
				due = a.ask(ctx)
			}
		}
	}
}

// ask asks once, and returns when to ask again: at once if most of many jobs had ended; zero: no job is open.
func (a *asker) ask(ctx context.Context) (again time.Time) {
	a.soonest = time.Now().Add(endsEvery)
	found, err := a.store.AskEnds(ctx, batch.AskEnds{
		Sink: a.sink, Queue: a.cfg.Submitters[a.sink], Hooks: a.cfg.Hooks, Limit: endsLimit, Timeout: endsTimeout,
	})
	if err != nil {
		if !a.failed && ctx.Err() == nil {
			a.failed = true
			a.cfg.fail("ask another queue how jobs ended; ticks go on", err)
		}
		a.soonest = time.Now().Add(a.pause.Next())
		return a.soonest
	}
	if found.Asked > 0 {
		a.failed = false
		a.pause.Reset()
	}
	a.observe(found)
	switch {
	case found.Asked == endsLimit && len(found.Ended) > found.Asked/2:
		a.soonest = time.Now()
		return a.soonest
	case found.Asked > 0:
		return a.soonest
	case !found.Next.IsZero():
		return time.Now().Add(found.Next.Sub(found.Now))
	}
	return time.Time{}
}

// observe tells of jobs that have ended, and names those whose end cannot be read or recorded. They have another turn,
// after a pause that grows.
func (a *asker) observe(found batch.Ends) {
	for _, t := range found.Ended {
		a.cfg.observe(Event{Kind: EventEnded, Task: t.Task, Tick: t.Tick, Sink: a.sink})
	}
	for _, b := range found.Bad {
		if a.bad[b.JID] {
			continue
		}
		if len(a.bad) == endsLimit {
			clear(a.bad)
		}
		a.bad[b.JID] = true
		a.cfg.fail("record how a job ended; others go on", fmt.Errorf("task %q, job %s in the queue %s: %w", b.TaskID, b.JID, a.sink, b.Err))
	}
}
