package executor

import (
	"sync"
	"time"
)

// duty is something that the loop does at a time.
type duty int

const (
	fetchLogs      duty = iota // take what handlers have logged
	cancelRunning              // cancel the handlers that still run at a shutdown
	unclaimWaiting             // send jobs that have no place in the pool back to the queue
	giveUp                     // end although ends are not recorded
	compareJobs                // compare the jobs in flight with those that the database says are ours
	lookForCancels             // look for requests to cancel them
	rescueOverdue              // rescue jobs of dead workers, and let those wait again whose retry is due
	syncReports                // sync: write the reports of attempts, and claim
	wakeToClaim                // sync, which may claim again: it only wakes the loop
	retryAlone                 // retry jobs that were set aside
	duties
)

// needsDatabase reports whether the duty waits while the database has trouble.
func (d duty) needsDatabase() bool { return d >= compareJobs }

// agenda holds the times of the loop. The zero time means: not at all.
type agenda struct {
	at        [duties]time.Time
	downUntil time.Time // the last work failed, try none before; zero: it succeeded
}

func (g *agenda) set(d duty, at time.Time) { g.at[d] = at }

func (g *agenda) clear(d duty) { g.at[d] = time.Time{} }

func (g *agenda) planned(d duty) bool { return !g.at[d].IsZero() }

// sooner plans a duty for a time, unless it is planned for an earlier one.
func (g *agenda) sooner(d duty, at time.Time) {
	if !g.planned(d) || at.Before(g.at[d]) {
		g.at[d] = at
	}
}

// when is when to do a duty, zero if it is not planned.
func (g *agenda) when(d duty) time.Time {
	at := g.at[d]
	if g.planned(d) && d.needsDatabase() && at.Before(g.downUntil) {
		return g.downUntil
	}
	return at
}

// due reports whether it is time for a duty.
func (g *agenda) due(d duty, now time.Time) bool {
	at := g.when(d)
	return !at.IsZero() && !at.After(now)
}

// next is when the next duty is due, at most an hour from now.
func (g *agenda) next(now time.Time) time.Time {
	next := now.Add(time.Hour)
	for d := range duties {
		if at := g.when(d); !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

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
