package executor

import "sync"

// inbox collects what other goroutines report to the loop. Reporting never waits.
type inbox struct {
	signal func() // wakes the loop

	mu  sync.Mutex
	new messages
}

// messages are the contents of the inbox.
type messages struct {
	returned []handlerReturn
	changed  bool             // jobs may have been added or cancelled
	lives    bool             // the executor has said that it lives
	dead     map[string]int64 // workers that have died, and their beats
}

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

// open empties the inbox.
func (b *inbox) open() messages {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.new
	b.new = messages{lives: m.lives}
	return m
}
