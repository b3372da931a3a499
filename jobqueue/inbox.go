package jobqueue

import (
	"sync"
	"time"
)

// inbox is what others tell the loop. Its wake-up channel has a capacity of
// one, so that telling never waits.
type inbox struct {
	wake chan struct{}

	mu       sync.Mutex
	outcomes []outcome
	expected int // outcomes of which only the last is worth waking up for
	dirty    map[*attempt]bool
	since    time.Time // when the first of dirty was told; zero: none
	urgent   bool      // somebody waits for room in its notes
	changed  bool      // jobs may have been added or cancelled
}

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1), dirty: map[*attempt]bool{}}
}

func (b *inbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// look says that jobs may have been added or cancelled.
func (b *inbox) look() {
	b.mu.Lock()
	b.changed = true
	b.mu.Unlock()
	b.signal()
}

func (b *inbox) ended(o outcome) {
	b.mu.Lock()
	b.outcomes = append(b.outcomes, o)
	b.expected--
	wake := b.expected <= 0
	b.mu.Unlock()
	if wake {
		b.signal()
	}
}

// expect tells how many jobs may end before the loop need know; the loop opens
// the inbox in time if fewer do.
func (b *inbox) expect(n int) {
	b.mu.Lock()
	b.expected = n
	wake := n == 0 && len(b.outcomes) > 0
	b.mu.Unlock()
	if wake {
		b.signal()
	}
}

// noted says that the attempt's notes are to be fetched.
func (b *inbox) noted(a *attempt, urgent bool) {
	b.mu.Lock()
	first := b.since.IsZero() || urgent && !b.urgent
	if b.since.IsZero() {
		b.since = time.Now()
	}
	b.dirty[a] = true
	b.urgent = b.urgent || urgent
	b.mu.Unlock()
	if first {
		b.signal()
	}
}

// mail is the contents of the inbox.
type mail struct {
	outcomes []outcome
	dirty    map[*attempt]bool // nil: not yet
	changed  bool
	noteAt   time.Time // when the notes are to be fetched; zero: there are none
}

// open empties the inbox; notes stay in it until they are old enough, so that
// they are written in batches.
func (b *inbox) open(now time.Time, patience time.Duration) mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := mail{outcomes: b.outcomes, changed: b.changed}
	b.outcomes, b.changed, b.expected = nil, false, 0
	if b.since.IsZero() {
		return m
	}
	if at := b.since.Add(patience); !b.urgent && at.After(now) {
		m.noteAt = at
		return m
	}
	m.dirty = b.dirty
	b.dirty, b.since, b.urgent = map[*attempt]bool{}, time.Time{}, false
	return m
}
