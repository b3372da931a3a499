package periodic

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/internal/batch"
)

// delayed notes what keeps the scheduler from deciding ticks in time, for the records of
// those that are missed. The loop owns it.
type delayed struct {
	store   backend.Watcher
	delays  *batch.Delays
	clock   *clock
	observe func(Event)

	failing time.Time // the rounds have failed since then; zero: they do not fail
	cause   error     // of the first that failed
	fresh   bool      // no round has worked since the scheduler began, or became the leader

	since  time.Time            // claims have passed over due tasks since then; zero: over none
	looked time.Time            // when the scheduler asked who has locked their rows
	named  map[string]time.Time // by key: since when
}

// failed notes that a round failed.
func (d *delayed) failed(cause error) {
	if d.failing.IsZero() {
		d.failing, d.cause = time.Now(), cause
	}
}

// works notes that a round has read the database, whose time is now: what was not decided
// since the first round that failed was late because of that.
func (d *delayed) works(now time.Time) {
	if !d.failing.IsZero() {
		d.delays.Stood(fmt.Sprintf("the scheduler could not use the database: %v", d.cause), now.Add(-time.Since(d.failing)), now)
		d.failing = time.Time{}
	}
	if d.fresh {
		d.delays.Began(now)
		d.fresh = false
	}
}

// oversleep is how much longer than it wanted the scheduler may sleep on a busy machine.
const oversleep = 2 * time.Second

// woke notes a sleep that was too long: the process was stopped, or got no time.
func (d *delayed) woke(asleep time.Time, wait time.Duration) {
	if slept, now := time.Since(asleep), d.clock.now(); slept > wait+oversleep && !now.IsZero() {
		d.delays.Stood("the scheduler's process stood still for "+span.Text(slept), now.Add(-slept), now)
	}
}

// lockedNotice is how long the rows of due tasks must be locked before the scheduler asks
// who has locked them, and then asks again. Schedulers lock each other's rows for less.
const lockedNotice = 2 * time.Second

// ends notes the end of a round: whether rows were locked, and whether claims passed over
// due tasks. It says once whose rows are locked, and once that they can be claimed again.
func (d *delayed) ends(ctx context.Context, locked, passedOver bool, without backend.Apart) {
	if locked {
		d.observe(Event{Kind: EventLocked})
	}
	now := time.Now()
	switch {
	case ctx.Err() != nil: // claims have stopped
		return
	case !passedOver:
		d.since = time.Time{}
		d.freeBut(nil, now)
		return
	case d.since.IsZero():
		d.since = now
	}
	if now.Sub(d.since) < lockedNotice || now.Sub(d.looked) < lockedNotice {
		return
	}
	d.looked = now
	list, err := d.store.Locked(ctx, lockedNotice, without)
	if err != nil {
		return // the rounds meet the same error, and report it
	}
	still := map[string]bool{}
	for _, t := range list {
		still[t.Key] = true
		if _, known := d.named[t.Key]; known {
			continue
		}
		if d.named == nil {
			d.named = map[string]time.Time{}
		}
		d.named[t.Key] = d.since
		d.delays.Locked(t.Key, t.Who, d.clock.now())
		d.observe(Event{Kind: EventHeld, ID: batch.ID(t.Key), Problem: t.Holder})
	}
	d.freeBut(still, now)
}

// freeBut says of tasks that were named that their rows are not locked any more.
func (d *delayed) freeBut(still map[string]bool, now time.Time) {
	for key, since := range d.named {
		if !still[key] {
			delete(d.named, key)
			d.delays.Free(key, d.clock.now())
			d.observe(Event{Kind: EventHeld, ID: batch.ID(key), Took: now.Sub(since)})
		}
	}
}
