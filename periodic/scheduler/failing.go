package scheduler

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// A statement that writes many rows fails for all of them when one cannot be written: a constraint refuses it,
// a trigger raises, somebody else holds a lock that it needs. The rows are then written in parts, and one by one
// where a part fails (split.go). A row that fails alone is left out, and tried again alone, at growing intervals; so are
// the tasks of a queue that cannot be used.

// failures are the tasks that fail alone, by their ids, or the queues that cannot be used. The loop owns them.
type failures[K comparable] map[K]*failure

type failure struct {
	version string // of a task's row
	err     error
	again   time.Time       // when it is tried again
	pause   service.Backoff // before that
}

// How long a task that fails is left out: twice as long each time. What waits for a lock is likely to work again soon.
const leastFailing, mostFailing = time.Second, 2 * time.Minute

// add leaves out what has failed, for a time between least and most. It returns the error that it had before; nil: it is new.
func (f failures[K]) add(key K, version string, err error, least, most time.Duration) (before error) {
	known := f[key]
	if known == nil {
		known = &failure{}
		f[key] = known
	}
	before, known.version, known.err = known.err, version, err
	known.pause.Least, known.pause.Most = least, most
	known.again = time.Now().Add(known.pause.Next())
	return before
}

// next is when to try the first of them again; zero: there is none.
func (f failures[K]) next() (next time.Time) {
	for _, known := range f {
		next = earlier(next, known.again)
	}
	return next
}

// due is one whose time has come.
func (f failures[K]) due() (key K, known *failure) {
	for key, known := range f {
		if isDue(known.again) {
			return key, known
		}
	}
	return key, nil
}

// scope is what batches take: the tasks of queues that can be used, without those that fail alone.
func (l *loop) scope() batch.Scope {
	s := batch.Scope{Sinks: l.usable()}
	for id, known := range l.failing {
		s.LeftOut = append(s.LeftOut, batch.Row{ID: id, Version: known.version})
	}
	return s
}

// usable are the queues that can be used.
func (l *loop) usable() (sinks []periodic.Sink) {
	for sink := range l.batches.Queues {
		if l.broken[sink] == nil {
			sinks = append(sinks, sink)
		}
	}
	if len(sinks) == 0 {
		return []periodic.Sink{""} // which no task has
	}
	return sinks
}

// alike compares errors without their numbers: ports and process ids change each time.
func alike(a, b error) bool {
	words := func(err error) []string {
		return strings.FieldsFunc(err.Error(), func(r rune) bool { return '0' <= r && r <= '9' })
	}
	return slices.Equal(words(a), words(b))
}

// publishTrouble publishes what keeps the scheduler from some or all of its work, if it is another error than before: that of
// a round, or else of a task that fails. A database that cannot be used is asked for nothing.
func (l *loop) publishTrouble(ctx context.Context, err error) {
	text := l.failingText()
	if err != nil {
		if text = err.Error(); l.store.Fault(err) == service.FaultDatabase {
			return
		}
	}
	if text != l.published && l.store.SetTrouble(ctx, l.batches.Worker, text) == nil {
		l.published = text
	}
}

// failingText is the error of one of the tasks that fail; empty if none does but for a lock.
func (l *loop) failingText() string {
	for _, id := range slices.Sorted(maps.Keys(l.failing)) {
		if err := l.failing[id].err; l.store.Fault(err) != service.FaultLock {
			return err.Error()
		}
	}
	return ""
}
