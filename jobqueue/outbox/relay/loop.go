package relay

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
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

	running, working context.Context //nolint:containedctx // the loop is a call
	workers          workers
	active           map[string]bool                 // topics claimed for a worker
	ended            chan string                     // such a topic, when its worker has given it back
	ready            []string                        // topics to claim next
	held             isolate.Aside[string, struct{}] // topics that are held up
	trying           string                          // a topic that was held up and is being claimed; empty: none

	answers  chan answer
	open     int             // claims without an answer
	claiming map[string]bool // their topics
	suspects map[string]bool // topics that may be slow to claim
}

// loop claims topics and starts a worker for each, until running ends. Then it
// waits for the workers, which finish their batches unless working ends too.
func (r *Relay) loop(running, working context.Context) {
	l := &loop{
		Relay: r, running: running, working: working, workers: newWorkers(r.cfg.Concurrency),
		active: map[string]bool{}, ended: make(chan string), answers: make(chan answer),
		claiming: map[string]bool{}, suspects: map[string]bool{},
		held: isolate.Aside[string, struct{}]{Paces: map[struct{}]isolate.Pace{{}: {Least: heldLeast, Most: heldMost}}},
	}
	retry := service.Backoff{Least: 100 * time.Millisecond, Most: 10 * time.Second}
	for running.Err() == nil {
		wait, err := l.round()
		switch {
		case err == nil:
			r.pulse.Beat(nil)
			retry.Reset()
		case running.Err() == nil:
			r.pulse.Beat(err)
			r.fail("claim topics", err)
			wait = retry.Next()
		}
		l.sleep(wait)
	}
	for len(l.active) > 0 || l.open > 0 {
		select {
		case topic := <-l.ended:
			delete(l.active, topic)
		case a := <-l.answers:
			l.open--
			l.start(a.claimed.Batches, a.asked) // gives the leases back
		}
	}
}

// sleep waits until there may be something to do.
func (l *loop) sleep(wait time.Duration) {
	if next := l.held.Next(); !next.IsZero() && l.trying == "" {
		wait = min(wait, max(time.Until(next), clockSlack))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-l.running.Done():
	case <-l.life.Woken():
		l.held.Hurry(time.Now(), heldGap)
	case <-timer.C:
	case <-l.workers.changed:
	case topic := <-l.ended:
		delete(l.active, topic)
		l.collect()
	case a := <-l.answers:
		if err := l.answered(a); err != nil {
			l.fail("claim topics", err)
		}
	}
}

// collect drains the other workers that have ended, so that one claim fills all their
// places.
func (l *loop) collect() {
	for {
		select {
		case topic := <-l.ended:
			delete(l.active, topic)
		default:
			return
		}
	}
}

// round claims as many topics as the workers have room for: of ready, or else of
// all. It returns how long to wait for more.
func (l *loop) round() (time.Duration, error) {
	l.tryAlone()
	room := l.workers.room() - len(l.active)
	if room <= 0 {
		return l.cfg.PollInterval, nil
	}
	c, wait := l.claim(), time.Duration(0) // nothing is known about those that are not in ready
	if len(l.ready) == 0 {
		listed, err := l.source.Claim(l.working, c)
		if err != nil {
			return 0, err
		}
		l.ready, c.Ended, wait = listed.Ready, listed.Ended, l.cfg.PollInterval
		l.holdUp(listed.Held)
		if listed.Next >= 0 {
			wait = min(wait, max(listed.Next, clockSlack))
		}
	}
	if topics := l.take(c, room); len(topics) > 0 {
		l.begin(c, topics...)
		return wait, l.await(topics[0])
	}
	return wait, nil
}

// answered takes in the answer to a claim.
func (l *loop) answered(a answer) error {
	l.open--
	for _, topic := range a.claim.Among {
		delete(l.claiming, topic)
	}
	l.judge(a)
	if len(a.claimed.Batches) > 0 {
		crashpoint.At("relay/claimed")
	}
	l.start(a.claimed.Batches, a.asked)
	if a.claimed.Next >= 0 {
		time.AfterFunc(a.claimed.Next, l.Wake)
	}
	topic := a.claim.Among[0]
	switch {
	case a.claim.Alone:
		l.triedAlone(a)
	case a.err == nil:
		l.holdUp(a.claimed.Held)
	case l.suspects[topic]: // the loop has gone on
		l.fail("claim topics", a.err)
		if len(a.claim.Among) == 1 {
			l.held.Add(topic, struct{}{}, time.Now())
		}
	default:
		return a.err
	}
	return nil
}

// claim asks which topics are ready.
func (l *loop) claim() outboxdb.Claim {
	except := slices.AppendSeq(slices.Collect(maps.Keys(l.active)), maps.Keys(l.claiming))
	return outboxdb.Claim{Terms: l.terms(), Holder: l.holder, Topics: l.cfg.Topics, Except: except, Held: l.held.Keys()}
}

// shuffled keeps a limited number of topics, in random order: relays that listed the
// same topics would otherwise all claim the same ones first.
func (r *Relay) shuffled(ready []string) []string {
	ready = ready[:min(len(ready), readyPerWorker*r.cfg.Concurrency)]
	rand.Shuffle(len(ready), func(i, j int) { ready[i], ready[j] = ready[j], ready[i] })
	return ready
}

// start has a worker publish each batch.
func (l *loop) start(batches []outboxdb.Batch, asked time.Time) {
	for i := range batches {
		w := &worker{Relay: l.Relay, running: l.running, working: l.working, workers: l.workers}
		b := &batches[i]
		l.active[b.Lease.Topic] = true
		go func() {
			w.work(b, asked)
			l.ended <- b.Lease.Topic
		}()
	}
}
