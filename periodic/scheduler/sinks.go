package scheduler

import (
	"context"
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
	told   bool // a sink broke, perhaps in another way than before, and its tasks do not say so yet
}

// breaker is a queue that cannot be used.
type breaker struct {
	err    error
	locked bool // somebody has locked it
	again  time.Time
	pause  time.Duration
}

// held are the sinks that are not to be used now.
func (s *sinks) held() (list []periodic.Sink) {
	for sink := range s.broken {
		list = append(list, sink)
	}
	return list
}

// why is why a sink cannot be used; nil if it can, or if it is only locked.
func (s *sinks) why(sink periodic.Sink) error {
	if b := s.broken[sink]; b != nil && !b.locked {
		return b.err
	}
	return nil
}

// usable are the known sinks without broken ones.
func (s *sinks) usable() []periodic.Sink {
	usable := slices.DeleteFunc(slices.Clone(s.known), func(sink periodic.Sink) bool { return s.why(sink) != nil })
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
func (s *sinks) trip(sink periodic.Sink, err error, locked bool, now time.Time) (first bool) {
	b := s.broken[sink]
	if first = b == nil || !alike(b.err, err); b == nil {
		b = &breaker{}
		s.broken[sink] = b
	}
	b.err, b.locked = err, locked
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

// suspectSinks looks, after a batch has failed, for queues that are to blame. Those that no task has are of no
// interest: a program that feeds another queue need not have a table job that works. The error is one of the database.
func (l *loop) suspectSinks(hard context.Context, cause error) (broke bool, err error) {
	if l.store.Fault(cause) == service.FaultRow {
		return false, nil
	}
	suspects := l.sinks.known
	if fed, err := l.store.Fed(hard, suspects); err == nil {
		suspects = fed
	}
	for _, sink := range suspects {
		err := l.probe(hard, sink)
		if err != nil && !l.isolatable(err) {
			return broke, err
		}
		l.judgeSink(sink, err)
		broke = broke || err != nil
	}
	l.progress = l.progress || broke // the next batch is without them
	return broke, nil
}

// probe checks whether a sink takes jobs at all.
func (l *loop) probe(hard context.Context, sink periodic.Sink) error {
	queue, ok := l.batches.Queues[sink]
	if !ok {
		return nil
	}
	return l.role.update(hard, aloneWait, func(tx batch.Tx) error { return queue.Probe(hard, tx.DBTX()) })
}

// judgeSink has the tasks of a sink wait because of an error, or ends that.
func (l *loop) judgeSink(sink periodic.Sink, err error) {
	switch {
	case err == nil && l.sinks.broken[sink] != nil:
		delete(l.sinks.broken, sink)
		l.observe(Event{Kind: EventSink, Sink: sink})
	case err != nil && l.sinks.trip(sink, err, l.store.Fault(err) == service.FaultLock, time.Now()):
		l.sinks.told = false
		l.observe(Event{Kind: EventSink, Sink: sink, Err: err})
	}
}

// retrySinks tries the sinks again whose time has come.
func (l *loop) retrySinks(_, hard context.Context) error {
	now := time.Now()
	for sink, b := range l.sinks.broken {
		if b.again.After(now) {
			continue
		}
		err := l.probe(hard, sink)
		if err != nil && !l.isolatable(err) {
			return err
		}
		l.judgeSink(sink, err)
	}
	l.watermark.reset()
	l.pollNow()
	return nil
}
