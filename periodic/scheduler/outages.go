package scheduler

import (
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// outages remembers what kept the scheduler from deciding ticks in time, for the records of
// those that are missed.
type outages struct {
	failing time.Time // by the host's clock: the rounds have failed since then; zero: they do not fail
	cause   error     // of the first that failed
	fresh   bool      // no round has worked since the scheduler began, or became the leader
	began   time.Time // by the database's clock, as what follows: the scheduler has scheduled since then; zero: not yet
	list    []outage  // the newest last
}

// outage is a time in which the ticks of a sink or of all tasks were not decided, and why.
type outage struct {
	of    string // ofSink or ofAll
	cause string
	from  time.Time // zero: it may have begun at any time
	until time.Time // zero: it lasts
}

// ofAll is an outage for all tasks.
const ofAll = ""

func ofSink(sink periodic.Sink) string { return "sink " + string(sink) }

const (
	// mostOutages is how many are remembered.
	mostOutages = 100
	// noticed is how late an outage may be noticed: its beginning is known as exactly as this.
	noticed = 5 * time.Second
)

// add remembers an outage. One that came back at once has lasted.
func (o *outages) add(last outage) {
	if i := slices.IndexFunc(o.list, func(x outage) bool {
		return x.of == last.of && x.cause == last.cause && last.from.Sub(x.until) < noticed
	}); i >= 0 {
		last.from = o.list[i].from
		o.list = slices.Delete(o.list, i, i+1)
	}
	if len(o.list) == mostOutages {
		o.list = slices.Delete(o.list, 0, 1)
	}
	o.list = append(o.list, last)
}

// over notes that an outage has ended.
func (o *outages) over(of string, now time.Time) {
	for i := range o.list {
		if x := &o.list[i]; x.of == of && x.until.IsZero() {
			x.until = now
		}
	}
}

// of says why the ticks of a task were not decided in time, as far as this scheduler
// knows; empty: it did not run.
func (o *outages) of(t *periodic.Task) string {
	due := t.NextRun
	for _, x := range o.list {
		concerned := x.of == ofAll || x.of == ofSink(t.Sink) && !t.Unplanned()
		if concerned && !x.from.After(due.Add(noticed)) && (x.until.IsZero() || due.Before(x.until)) {
			return x.cause
		}
	}
	if o.began.IsZero() || due.Before(o.began) && !t.Manual() {
		return ""
	}
	return reasons.DelayUnknown
}

// failed notes that a round failed.
func (o *outages) failed(cause error) {
	if o.failing.IsZero() {
		o.failing, o.cause = time.Now(), cause
	}
}

// works notes that a round has read the database, whose time is now: what was not decided
// since the first round that failed was late because of that.
func (o *outages) works(now time.Time) {
	if !o.failing.IsZero() {
		o.add(outage{of: ofAll, cause: fmt.Sprintf("the scheduler could not use the database: %v", o.cause), from: now.Add(-time.Since(o.failing)), until: now})
		o.failing = time.Time{}
	}
	if o.fresh {
		o.fresh, o.began = false, now
	}
}
