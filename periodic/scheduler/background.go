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

// maxBackground limits the work in the background. With more of it, a failed batch is not
// searched now.
const maxBackground = 4

// background is the work that may have to wait for somebody's lock. Goroutines do it and
// send their findings; all else here is the loop's.
type background struct {
	found    chan search.Findings
	workers  int  // the number of goroutines
	retrying bool // one of them tries again what was set aside
	err      error
}

// start runs work in the background.
func (b *background) start(work func() search.Findings) {
	b.workers++
	go func() { b.found <- work() }()
}

func (b *background) full() bool { return b.workers >= maxBackground }

// receive calls handle with the findings that have arrived, without waiting for more.
func (b *background) receive(handle func(search.Findings)) {
	for {
		select {
		case f := <-b.found:
			handle(f)
		default:
			return
		}
	}
}

// takeError returns what has failed, once.
func (b *background) takeError(_, _ context.Context) error {
	err := b.err
	b.err = nil
	return err
}

// handleFindings applies the findings of work in the background.
func (l *loop) handleFindings(f search.Findings) {
	if l.background.workers--; f.Retried {
		l.background.retrying = false
	}
	l.aside.Tasks.End(f.Searched)
	for _, done := range f.Committed {
		l.handleCommitted(done)
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
		l.handleSink(sink, err, now)
	}
	switch {
	case f.Queued != nil && *f.Queued != nil:
		l.queued.setAside(*f.Queued)
	case f.Queued != nil:
		l.aside.Queued.Release()
	}
	l.background.err = errors.Join(l.background.err, f.Err)
	l.watermark.reset()
	l.pollNow()
}

// handleSink sets a sink aside because of an error, or ends that.
func (l *loop) handleSink(sink periodic.Sink, err error, now time.Time) {
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

// nextRetry is when to try again what was set aside; zero: not now.
func (b *background) nextRetry(a *aside.Aside) time.Time {
	if b.retrying {
		return time.Time{}
	}
	return a.Next()
}

// retryAside retries, in the background, the tasks and sinks that were set aside and are due for
// another try.
func (l *loop) retryAside(soft, _ context.Context) error {
	tries := l.aside.Due(time.Now())
	l.background.retrying = true
	l.background.start(func() search.Findings {
		var queued *error
		if tries.Queued {
			_, err := l.store.Candidates(soft, taskdb.Claim{Limit: 1})
			queued = &err
		}
		f := l.search.Retry(soft, tries)
		f.Queued = queued
		return f
	})
	return nil
}
