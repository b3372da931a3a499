package outbox

import (
	"context"
	"maps"
	"slices"
	"time"
)

// clockSlack is the least time to sleep: the database's clock and the own one
// advance by no finer steps than this.
const clockSlack = time.Millisecond

// loop claims topics and has a worker publish each, until running ends; then it
// waits for the workers, which finish what they have in hand unless working
// ends too.
func (r *Relay) loop(running, working context.Context) {
	active := map[string]bool{} // topics in the hands of a worker
	ended := make(chan string)  // such a topic, when its worker has given it back
	retry := backoff{least: 100 * time.Millisecond, most: 10 * time.Second}
	for running.Err() == nil {
		wait := r.cfg.PollInterval
		if len(active) < r.cfg.Concurrency {
			var err error
			if wait, err = r.claim(running, working, active, ended); err != nil {
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

// claim takes as many topics as there may be workers and starts these. It
// returns how long to wait for more.
func (r *Relay) claim(running, working context.Context, active map[string]bool, ended chan<- string) (time.Duration, error) {
	asked := time.Now()
	claimed, err := r.source.Claim(working, Claim{
		Terms: r.terms(), Holder: r.holder, Topics: r.cfg.Topics,
		Except: slices.Collect(maps.Keys(active)), Count: r.cfg.Concurrency - len(active),
	})
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
	wait := r.cfg.PollInterval
	if claimed.Next >= 0 {
		wait = min(wait, max(claimed.Next, clockSlack))
	}
	return wait, nil
}
