package scheduler

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// sinks are the queues of a scheduler. The tasks of one that cannot be used wait; it is tried again, ever more
// rarely. The loop owns it.
type sinks struct {
	known  []periodic.Sink // all of them
	broken map[periodic.Sink]*breaker
}

// breaker is a queue that cannot be used.
type breaker struct {
	err   error
	again time.Time
	pause time.Duration
}

// usable are the known sinks without broken ones.
func (s *sinks) usable() []periodic.Sink {
	usable := slices.DeleteFunc(slices.Clone(s.known), func(sink periodic.Sink) bool { return s.broken[sink] != nil })
	if len(usable) == 0 {
		return []periodic.Sink{""} // which no task has
	}
	return usable
}

// next is when to try one again; zero: all can be used.
func (s *sinks) next() (next time.Time) {
	for _, b := range s.broken {
		if next.IsZero() || b.again.Before(next) {
			next = b.again
		}
	}
	return next
}

// trip has the tasks of a sink wait. It reports whether that is new, or has another cause than before.
func (s *sinks) trip(sink periodic.Sink, err error, now time.Time) (first bool) {
	b := s.broken[sink]
	if first = b == nil || !alike(b.err, err); b == nil {
		b = &breaker{}
		s.broken[sink] = b
	}
	b.err = err
	b.pause = min(max(2*b.pause, leastRetry), mostRetry)
	b.again = now.Add(b.pause)
	return first
}

// alike compares errors without their numbers: ports and process ids change each time.
func alike(a, b error) bool {
	words := func(err error) []string {
		return strings.FieldsFunc(err.Error(), func(r rune) bool { return '0' <= r && r <= '9' })
	}
	return slices.Equal(words(a), words(b))
}

// suspectSink looks, after a batch has failed, whether a queue is to blame: the one that its error names or, since the
// table job says which tasks wait, nextrun's own. The error is one of the database.
func (l *loop) suspectSink(hard context.Context, cause error) (broke bool, err error) {
	if l.store.Fault(cause) == service.FaultRow {
		return false, nil
	}
	suspect := &batch.SinkError{Sink: periodic.SinkJob}
	errors.As(cause, &suspect)
	broke, err = l.probe(hard, suspect.Sink)
	l.late.progress = l.late.progress || broke // the next batch is without its tasks
	return broke, err
}

// probe checks whether a sink takes jobs at all. It has the tasks of one wait that does not, or ends that.
func (l *loop) probe(hard context.Context, sink periodic.Sink) (broken bool, err error) {
	err = l.batches.Update(hard, aloneWait, func(tx batch.Tx) error { return l.batches.Queues[sink].Probe(hard, tx.DBTX()) })
	switch {
	case err != nil && !l.isolatable(err):
		return false, err
	case err == nil && l.sinks.broken[sink] != nil:
		delete(l.sinks.broken, sink)
		l.observe(Event{Kind: EventSink, Sink: sink})
	case err != nil && l.sinks.trip(sink, err, time.Now()):
		l.observe(Event{Kind: EventSink, Sink: sink, Err: err})
	}
	return err != nil, nil
}

// retry tries the sinks again whose time has come, and has the next poll look at the tasks whose time has.
func (l *loop) retry(_, hard context.Context) error {
	now := time.Now()
	for sink, b := range l.sinks.broken {
		if b.again.After(now) {
			continue
		}
		if _, err := l.probe(hard, sink); err != nil {
			return err
		}
	}
	l.failing.try(now)
	l.watermark.reset()
	l.pollNow()
	return nil
}
