package outbox

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// clockSlack is the least time to sleep: the database's clock and the own one
// advance by no finer steps than this.
const clockSlack = time.Millisecond

// readyPerWorker is how many topics that one look at the database has found
// ready are kept for each worker: with many topics the look takes longer than
// the work.
const readyPerWorker = 32

// loop claims topics and has a worker publish each, until running ends; then it
// waits for the workers, which finish what they have in hand unless working
// ends too.
func (r *Relay) loop(running, working context.Context) {
	active := map[string]bool{} // topics in the hands of a worker
	ended := make(chan string)  // such a topic, when its worker has given it back
	var ready []string          // topics to claim next
	retry := backoff{least: 100 * time.Millisecond, most: 10 * time.Second}
	for running.Err() == nil {
		wait := r.cfg.PollInterval
		if len(active) < r.cfg.Concurrency {
			var err error
			if wait, err = r.claim(running, working, active, &ready, ended); err != nil {
				if running.Err() != nil {
					break
				}
				r.fail("claim topics", err)
				wait = retry.next()
			} else {
				retry.reset()
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-running.Done():
		case <-r.wake:
		case <-timer.C:
		case topic := <-ended:
			delete(active, topic)
		}
		timer.Stop()
	}
	for len(active) > 0 {
		delete(active, <-ended)
	}
}

// claim takes as many topics as there may be workers, of ready or else of all,
// and starts these. It returns how long to wait for more.
func (r *Relay) claim(
	running, working context.Context, active map[string]bool, ready *[]string, ended chan<- string,
) (time.Duration, error) {
	asked := time.Now()
	c := Claim{
		Terms: r.terms(), Holder: r.holder, Topics: r.cfg.Topics,
		Except: slices.Collect(maps.Keys(active)), Count: r.cfg.Concurrency - len(active),
	}
	if n := min(c.Count, len(*ready)); n > 0 {
		c.Among, *ready = (*ready)[:n], (*ready)[n:]
	}
	claimed, err := r.source.Claim(working, c)
	if err != nil {
		return 0, err
	}
	for i := range claimed.Batches {
		b := &claimed.Batches[i]
		active[b.Lease.Topic] = true
		go func() {
			r.work(running, working, b, asked)
			ended <- b.Lease.Topic
		}()
	}
	if c.Among != nil {
		return 0, nil // of the others nothing is known yet
	}
	*ready = r.shuffled(claimed.Ready)
	wait := r.cfg.PollInterval
	if claimed.Next >= 0 {
		wait = min(wait, max(claimed.Next, clockSlack))
	}
	return wait, nil
}

// shuffled keeps as many topics as is sensible, in an order that other relays
// do not have: those that found the same topics would always be after the same.
func (r *Relay) shuffled(ready []string) []string {
	ready = ready[:min(len(ready), readyPerWorker*r.cfg.Concurrency)]
	rand.Shuffle(len(ready), func(i, j int) { ready[i], ready[j] = ready[j], ready[i] })
	return ready
}
