package scheduler

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

// delayed remembers what keeps the scheduler from deciding ticks in time, for the records of
// those that are missed. The loop owns it; missedBecause is safe for concurrent use.
type delayed struct {
	store   taskdb.Watcher
	clock   *clock
	observe func(Event)

	failing time.Time // the rounds have failed since then; zero: they do not fail
	cause   error     // of the first that failed
	fresh   bool      // no round has worked since the scheduler began, or became the leader

	since        time.Time            // claims have passed over due tasks since then; zero: over none
	askedHolders time.Time            // when the scheduler asked who has locked their rows
	named        map[string]time.Time // by key: since when

	mu     sync.Mutex // of what follows; its times are of the database's clock
	began  time.Time  // the scheduler has scheduled since then; zero: not yet
	delays []delay    // the newest last
}

// delay is a time in which the ticks of a task, of a sink or of all tasks were not decided, and why.
type delay struct {
	of    string // the task's id, ofSink or ofAll
	cause string
	from  time.Time // zero: it may have begun at any time
	until time.Time // zero: it lasts
}

// ofAll is a delay of all tasks. It looks like no task's id.
const ofAll = "\x00all"

func ofSink(sink periodic.Sink) string { return "\x00sink " + string(sink) }

// mostDelays is how many delays are remembered.
const mostDelays = 1000

// noticed is how late a delay may be noticed: its beginning is known as exactly as this.
const noticed = 5 * time.Second

// add remembers a delay. One that came back at once has lasted.
func (d *delayed) add(last delay) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.IndexFunc(d.delays, func(o delay) bool {
		return o.of == last.of && o.cause == last.cause && last.from.Sub(o.until) < noticed
	}); i >= 0 {
		last.from = d.delays[i].from
		d.delays = slices.Delete(d.delays, i, i+1)
	}
	if len(d.delays) == mostDelays {
		d.delays = slices.Delete(d.delays, 0, 1)
	}
	d.delays = append(d.delays, last)
}

// tookLong remembers that the database took long for a batch.
func (d *delayed) tookLong(took time.Duration) {
	now := d.clock.now()
	d.add(delay{of: ofAll, cause: fmt.Sprintf("the database took %.1f s for a batch", took.Seconds()), from: now.Add(-took), until: now})
}

// over notes that the delay of a task or of a sink is over.
func (d *delayed) over(of string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.delays {
		if o := &d.delays[i]; o.of == of && o.until.IsZero() {
			o.until = d.clock.now()
		}
	}
}

// missedBecause says why the ticks of a task were not decided in time, as far as this scheduler
// knows; empty: it did not run.
func (d *delayed) missedBecause(t *periodic.Task) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	due, row, sink := t.NextRun, t.ID, ofSink(t.Sink)
	for _, o := range d.delays {
		concerned := o.of == ofAll || o.of == row || o.of == sink && !t.Unplanned()
		if concerned && !o.from.After(due.Add(noticed)) && (o.until.IsZero() || due.Before(o.until)) {
			return o.cause
		}
	}
	if d.began.IsZero() || due.Before(d.began) && !t.Manual() {
		return ""
	}
	return reasons.DelayUnknown
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
		d.add(delay{of: ofAll, cause: fmt.Sprintf("the scheduler could not use the database: %v", d.cause), from: now.Add(-time.Since(d.failing)), until: now})
		d.failing = time.Time{}
	}
	if d.fresh {
		d.fresh = false
		d.mu.Lock()
		d.began = now
		d.mu.Unlock()
	}
}

// oversleep is how much longer than it wanted the scheduler may sleep on a busy machine.
const oversleep = 2 * time.Second

// woke notes a sleep that was too long: the process was stopped, or got no time.
func (d *delayed) woke(asleep time.Time, wait time.Duration) {
	if slept, now := time.Since(asleep), d.clock.now(); slept > wait+oversleep && !now.IsZero() {
		d.add(delay{of: ofAll, cause: "the scheduler's process stood still for " + span.Text(slept), from: now.Add(-slept), until: now})
	}
}

// lockedNotice is how long the rows of due tasks must be locked before the scheduler asks
// who has locked them, and then asks again. Schedulers lock each other's rows for less.
const lockedNotice = 2 * time.Second

// reportLocked notes what a poll and what came of it have left waiting. It says once whose rows are locked,
// and once that they can be claimed again.
func (d *delayed) reportLocked(ctx context.Context, left *waits, exclude taskdb.Exclude) {
	if !left.unreported {
		return
	}
	left.unreported = false
	if left.locked {
		d.observe(Event{Kind: EventLocked})
	}
	now := time.Now()
	switch {
	case ctx.Err() != nil: // claims have stopped
		return
	case !left.passedOver:
		d.since = time.Time{}
		d.freeBut(nil, now)
		return
	case d.since.IsZero():
		d.since = now
	}
	if now.Sub(d.since) < lockedNotice || now.Sub(d.askedHolders) < lockedNotice {
		return
	}
	d.askedHolders = now
	list, err := d.store.Locked(ctx, lockedNotice, exclude)
	if err != nil {
		return // the rounds meet the same error, and report it
	}
	still := map[string]bool{}
	for _, t := range list {
		still[t.ID] = true
		if _, known := d.named[t.ID]; known {
			continue
		}
		if d.named == nil {
			d.named = map[string]time.Time{}
		}
		d.named[t.ID] = d.since
		d.add(delay{of: t.ID, cause: "its row was locked by " + t.Who, from: d.clock.now()})
		d.observe(Event{Kind: EventHeld, ID: t.ID, Problem: t.Holder})
	}
	d.freeBut(still, now)
}

// freeBut says of tasks that were named that their rows are not locked any more.
func (d *delayed) freeBut(still map[string]bool, now time.Time) {
	for key, since := range d.named {
		if !still[key] {
			delete(d.named, key)
			d.over(key)
			d.observe(Event{Kind: EventHeld, ID: key, Took: now.Sub(since)})
		}
	}
}
