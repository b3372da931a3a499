package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/aside"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/search"
)

// maxBeside limits the work beside the loop. With more of it, a failed batch is not
// searched now.
const maxBeside = 4

// beside is the work that may have to wait for somebody's lock. Goroutines do it and
// send their findings; all else here is the loop's.
type beside struct {
	found    chan search.Findings
	workers  int  // the number of goroutines but those that take slow tasks
	slow     int  // and of those
	retrying bool // one of them tries again what was set aside
	failed   error
}

// start runs work beside the loop.
func (b *beside) start(work func() search.Findings) {
	b.workers++
	b.run(work)
}

func (b *beside) run(work func() search.Findings) { go func() { b.found <- work() }() }

func (b *beside) full() bool { return b.workers >= maxBeside }

// arrived calls absorb with the findings that have arrived, without waiting for more.
func (b *beside) arrived(absorb func(search.Findings)) {
	for {
		select {
		case f := <-b.found:
			absorb(f)
		default:
			return
		}
	}
}

// fail returns what has failed, once.
func (b *beside) fail(_, _ context.Context) error {
	err := b.failed
	b.failed = nil
	return err
}

// absorb applies the findings of work beside the loop.
func (l *loop) absorb(f search.Findings) {
	if f.Slow != nil {
		l.slow.took(f)
	} else if l.beside.workers--; f.Retried {
		l.beside.retrying = false
	}
	l.aside.Tasks.End(f.Candidate)
	for _, done := range f.Done {
		l.report(done)
	}
	for _, key := range f.Released {
		l.aside.Tasks.Release(key)
	}
	now := time.Now()
	for _, failed := range f.SetAside {
		if l.aside.Tasks.Add(failed, now) && failed.Why != aside.Skipped {
			l.observe(Event{Kind: EventAside, ID: failed.Key, Doing: failed.Doing, Err: failed.Err})
		}
	}
	for sink, err := range f.Sinks {
		l.absorbSink(sink, err, now)
	}
	switch {
	case f.Queued != nil && *f.Queued != nil:
		l.queued.apart(*f.Queued)
	case f.Queued != nil:
		l.aside.Queued.Release()
	}
	l.beside.failed = errors.Join(l.beside.failed, f.Err)
	l.done.forget()
	l.again()
}

// absorbSink sets a sink aside because of an error, or ends that.
func (l *loop) absorbSink(sink periodic.Sink, err error, now time.Time) {
	switch {
	case err == nil && l.aside.Sinks.Release(sink):
		l.delayed.over(ofSink(sink))
		l.observe(Event{Kind: EventSink, Sink: sink})
	case err != nil && l.aside.Sinks.Add(sink, err, l.search.Faults.Of(err), now):
		l.delayed.add(delay{of: ofSink(sink), cause: fmt.Sprintf("its sink %q could not be used: %v", sink, err)})
		l.broke = true
		l.observe(Event{Kind: EventSink, Sink: sink, Err: err})
	}
}

// retries is when to try again what was set aside; zero: not now.
func (b *beside) retries(a *aside.Aside) time.Time {
	if b.retrying {
		return time.Time{}
	}
	return a.Next()
}

// retryAside retries, beside the loop, the tasks and sinks that were set aside and are due for
// another try.
func (l *loop) retryAside(running, _ context.Context) error {
	tries := l.aside.Due(time.Now())
	l.beside.retrying = true
	l.beside.start(func() search.Findings {
		var queued *error
		if tries.Queued {
			_, err := l.store.Candidates(running, taskdb.Claim{Limit: 1})
			queued = &err
		}
		f := l.search.Retry(running, tries)
		f.Queued = queued
		return f
	})
	return nil
}
