package executor

import (
	"sync"
	"time"
)

// inbox collects what other goroutines report to the loop. Reporting never waits.
type inbox struct {
	signal func() // wakes the loop

	mu     sync.Mutex
	new    messages
	unread map[*attempt]bool // whose logs are to be fetched
	since  time.Time         // when the first of unread was reported; zero: none
}

// messages are the contents of the inbox.
type messages struct {
	returned []handlerReturn
	logged   map[*attempt]bool // whose logs to fetch now
	logsAt   time.Time         // when to fetch logs; zero: there are none
	changed  bool              // jobs may have been added or cancelled
	lives    bool              // the executor has said that it lives
	dead     map[string]int64  // workers that have died, and their beats
}

func newInbox(signal func()) *inbox { return &inbox{signal: signal, unread: map[*attempt]bool{}} }

// look says that jobs may have been added or cancelled.
func (b *inbox) look() {
	b.mu.Lock()
	b.new.changed = true
	b.mu.Unlock()
	b.signal()
}

// beaten says that the executor has said that it lives, and who has died.
func (b *inbox) beaten(dead map[string]int64) {
	b.mu.Lock()
	first := !b.new.lives
	if b.new.lives = true; len(dead) > 0 {
		b.new.dead = dead
	}
	b.mu.Unlock()
	if first || len(dead) > 0 {
		b.signal()
	}
}

func (b *inbox) handlerReturned(r handlerReturn) {
	b.mu.Lock()
	b.new.returned = append(b.new.returned, r)
	b.mu.Unlock()
	b.signal()
}

// logged says that the attempt's log is to be fetched.
func (b *inbox) logged(a *attempt) {
	b.mu.Lock()
	first := b.since.IsZero()
	if first {
		b.since = time.Now()
	}
	b.unread[a] = true
	b.mu.Unlock()
	if first {
		b.signal()
	}
}

// open empties the inbox. Logs stay in it until they are old enough, so that they
// are written in batches.
func (b *inbox) open(now time.Time, patience time.Duration) messages {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.new
	b.new = messages{lives: m.lives}
	if b.since.IsZero() {
		return m
	}
	if at := b.since.Add(patience); at.After(now) {
		m.logsAt = at
		return m
	}
	m.logged = b.unread
	b.unread, b.since = map[*attempt]bool{}, time.Time{}
	return m
}
