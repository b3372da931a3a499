package relay

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// clockSlack is the least time to sleep: the database's clock and ours advance
// by no finer steps than this.
const clockSlack = time.Millisecond

// readyPerWorker is how many topics to keep, for each worker, of those that one listing has found ready: with many
// topics the listing takes longer than the work.
const readyPerWorker = 32

// A topic that cannot go on is tried again after heldLeast, and after twice as long each time, up to heldMost. From
// the third time on people hear of it: another relay may have locked it for a moment.
const (
	heldLeast = 250 * time.Millisecond
	heldMost  = 5 * time.Second
	heldNamed = 3
)

// loop is what the relay's one goroutine owns.
type loop struct {
	*Relay

	soft, hard context.Context //nolint:containedctx // the loop is a call
	working    map[string]bool // topics that have a worker
	said       chan said       // what workers say
	ready      []string        // topics to lease next
	held       map[string]hold // topics that cannot go on
}

// said reports that a worker is done with its topic, or why the topic cannot go on.
type said struct {
	topic string
	err   error
}

// hold is a topic that cannot go on.
type hold struct {
	times int
	until time.Time
}

// loop starts a worker for each topic that has something to do, until soft ends. Then it waits for the workers, which
// finish their batches unless hard ends too.
func (r *Relay) loop(soft, hard context.Context) {
	l := &loop{Relay: r, soft: soft, hard: hard, working: map[string]bool{}, said: make(chan said), held: map[string]hold{}}
	retry := service.Backoff{Least: 100 * time.Millisecond, Most: 10 * time.Second}
	r.pulse.Goes()
	for soft.Err() == nil {
		wait, err := l.startWorkers()
		switch {
		case err == nil:
			r.pulse.Beat(nil)
			retry.Reset()
		case soft.Err() == nil:
			r.pulse.Beat(err)
			r.fail("list topics", err)
			wait = retry.Next()
		}
		l.sleep(wait)
	}
	for len(l.working) > 0 {
		l.note(<-l.said)
	}
}

// sleep waits until there may be something to do.
func (l *loop) sleep(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	l.pulse.Sleeps()
	defer l.pulse.Goes()
	select {
	case <-l.soft.Done():
	case <-l.life.Woken():
	case <-timer.C:
	case s := <-l.said:
		l.note(s)
	}
}

// note makes a topic wait that cannot go on, and names it once.
func (l *loop) note(s said) {
	delete(l.working, s.topic)
	h := l.held[s.topic]
	delete(l.held, s.topic)
	if s.err == nil {
		return
	}
	h.times++
	h.until = time.Now().Add(service.Delay(h.times, heldLeast, min(heldMost, l.cfg.Lease/3)))
	l.held[s.topic] = h
	row := (*RowError)(nil)
	switch rows := errors.As(s.err, &row); {
	case rows && h.times == heldNamed:
		l.notify(Notice{Kind: NoticeHeldUp, Topic: s.topic, Err: s.err})
	case !rows && h.times == 1 && l.hard.Err() == nil:
		l.fail("lease a topic or record what was published", s.err)
	}
}

// startWorkers starts workers for as many topics as there is room for: of ready, or else of all. It returns how long
// to wait for more.
func (l *loop) startWorkers() (wait time.Duration, err error) {
	wait = l.cfg.PollInterval
	room := l.cfg.Concurrency - len(l.working)
	if room <= 0 {
		return wait, nil
	}
	if len(l.ready) == 0 {
		if wait, err = l.list(); err != nil {
			return 0, err
		}
	}
	n := min(room, len(l.ready))
	for _, topic := range l.ready[:n] {
		l.working[topic] = true
		w := &worker{Relay: l.Relay, soft: l.soft, hard: l.hard, terms: Terms{Lease: l.cfg.Lease, Limit: l.cfg.BatchSize}}
		if l.held[topic].times > 0 {
			w.terms.Limit, w.terms.Careful = 1, true
		}
		go func() { l.said <- said{topic, w.work(topic)} }()
	}
	l.ready = l.ready[n:]
	rand.Shuffle(len(l.ready), func(i, j int) { l.ready[i], l.ready[j] = l.ready[j], l.ready[i] }) // other relays have listed the same
	return wait, nil
}

// list finds the topics that are ready, and how long to wait until others are.
func (l *loop) list() (wait time.Duration, err error) {
	wait = l.cfg.PollInterval
	topics, err := l.source.Topics(l.soft, l.holder, l.cfg.Topics)
	for _, t := range topics {
		if l.working[t.Name] {
			continue
		}
		t.Wait = max(t.Wait, time.Until(l.held[t.Name].until))
		switch {
		case t.Wait > 0:
			wait = min(wait, max(t.Wait, clockSlack))
		case len(l.ready) < readyPerWorker*l.cfg.Concurrency:
			l.ready = append(l.ready, t.Name)
		}
	}
	return wait, err
}
