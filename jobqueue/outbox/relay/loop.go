package relay

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/service"
)

// clockSlack is the least time to sleep: the database's clock and ours advance
// by no finer steps than this.
const clockSlack = time.Millisecond

// readyPerWorker is how many topics to keep, for each worker, of those that one
// listing has found ready: with many topics the listing takes longer than the
// work.
const readyPerWorker = 32

// How topics that are held up are tried again: after heldLeast, and after twice
// as long each time, up to heldMost. A wake-up makes them due at once, but not
// within heldGap of the last try.
const (
	heldLeast = 250 * time.Millisecond
	heldMost  = 2 * time.Minute
	heldGap   = 5 * time.Second
)

// maxStuck is how many workers that cannot record their settlements are replaced
// by others.
const maxStuck = 64

// loop is what the relay's one goroutine owns.
type loop struct {
	*Relay

	soft, hard  context.Context //nolint:containedctx // the loop is a call
	workers     workers
	active      map[string]bool                 // topics claimed for a worker
	done        chan string                     // such a topic, when its worker is done with it
	ready       []string                        // topics to claim next
	held        isolate.Aside[string, struct{}] // topics that are held up
	tryingAlone string                          // a topic that was held up and is being claimed; empty: none

	answers   chan answer
	open      int             // claims without an answer
	claiming  map[string]bool // their topics
	maybeSlow map[string]bool // topics that may be slow to claim
}

// loop claims topics and starts a worker for each, until soft ends. Then it waits
// for the workers, which finish their batches unless hard ends too.
func (r *Relay) loop(soft, hard context.Context) {
	l := &loop{
		Relay: r, soft: soft, hard: hard, workers: newWorkers(r.cfg.Concurrency),
		active: map[string]bool{}, done: make(chan string), answers: make(chan answer),
		claiming: map[string]bool{}, maybeSlow: map[string]bool{},
		held: isolate.Aside[string, struct{}]{Paces: map[struct{}]isolate.Pace{{}: {Least: heldLeast, Most: heldMost}}},
	}
	retry := service.Backoff{Least: 100 * time.Millisecond, Most: 10 * time.Second}
	for soft.Err() == nil {
		wait, err := l.claimTopics()
		switch {
		case err == nil:
			r.pulse.Beat(nil)
			retry.Reset()
		case soft.Err() == nil:
			r.pulse.Beat(err)
			r.fail("claim topics", err)
			wait = retry.Next()
		}
		l.sleep(wait)
	}
	for len(l.active) > 0 || l.open > 0 {
		select {
		case topic := <-l.done:
			delete(l.active, topic)
		case a := <-l.answers:
			l.open--
			l.startWorkers(a.claimed.Batches, a.asked) // gives the leases back
		}
	}
}

// sleep waits until there may be something to do.
func (l *loop) sleep(wait time.Duration) {
	if next := l.held.Next(); !next.IsZero() && l.tryingAlone == "" {
		wait = min(wait, max(time.Until(next), clockSlack))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-l.soft.Done():
	case <-l.life.Woken():
		l.held.Hurry(time.Now(), heldGap)
	case <-timer.C:
	case <-l.workers.changed:
	case topic := <-l.done:
		delete(l.active, topic)
		l.collectDone()
	case a := <-l.answers:
		if err := l.handleAnswer(a); err != nil {
			l.fail("claim topics", err)
		}
	}
}

// collectDone drops the other topics that are done, so that one claim replaces them all.
func (l *loop) collectDone() {
	for {
		select {
		case topic := <-l.done:
			delete(l.active, topic)
		default:
			return
		}
	}
}

// claimTopics claims as many topics as the workers have room for: of ready, or else of
// all. It returns how long to wait for more.
func (l *loop) claimTopics() (time.Duration, error) {
	l.tryAlone()
	room := l.workers.room() - len(l.active)
	if room <= 0 {
		return l.cfg.PollInterval, nil
	}
	c, wait := l.composeClaim(), time.Duration(0) // nothing is known about those that are not in ready
	if len(l.ready) == 0 {
		listed, err := l.source.Claim(l.hard, c)
		if err != nil {
			return 0, err
		}
		l.ready, c.Ended, wait = listed.Ready, listed.Ended, l.cfg.PollInterval
		l.holdUp(listed.Held)
		if listed.Next >= 0 {
			wait = min(wait, max(listed.Next, clockSlack))
		}
	}
	if topics := l.takeReady(c, room); len(topics) > 0 {
		l.sendAsync(c, topics...)
		return wait, l.awaitAnswer(topics[0])
	}
	return wait, nil
}

// shuffled keeps a limited number of topics, in random order: relays that listed the
// same topics would otherwise all claim the same ones first.
func (r *Relay) shuffled(ready []string) []string {
	ready = ready[:min(len(ready), readyPerWorker*r.cfg.Concurrency)]
	rand.Shuffle(len(ready), func(i, j int) { ready[i], ready[j] = ready[j], ready[i] })
	return ready
}

// startWorkers has a worker publish each batch.
func (l *loop) startWorkers(batches []outboxdb.Batch, asked time.Time) {
	for i := range batches {
		w := &worker{Relay: l.Relay, soft: l.soft, hard: l.hard, workers: l.workers}
		b := &batches[i]
		l.active[b.Lease.Topic] = true
		go func() {
			w.work(b, asked)
			l.done <- b.Lease.Topic
		}()
	}
}
