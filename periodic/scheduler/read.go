package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// atHand is how soon a plan may be due that the loop reads no other tasks before, unless
// that takes longer.
const atHand = 50 * time.Millisecond

// readAhead reads the tasks that fall due soon, and decides.
func (l *loop) readAhead(soft, hard context.Context) error {
	a := &l.ahead
	a.readAt = time.Time{}
	l.pollNow()
	took := time.Duration(0)
	for soft.Err() == nil {
		begun := time.Now()
		limit := a.room()
		if next := a.next(); limit <= 0 || !next.IsZero() && l.clock.until(next) < max(atHand, 2*took) {
			a.readUpTo = batch.Cursor{NextRun: l.clock.now().Add(a.lead)} // the others are read when they are due
			return nil
		}
		b, err := l.batches.Read(hard, batch.Wanted{Scope: l.scope(), Limit: limit, Ahead: a.lead, Beyond: a.readUpTo})
		if err != nil {
			a.readUpTo = batch.Cursor{NextRun: l.clock.now().Add(a.lead)}
			if l.isolatable(err) {
				return nil // once they are due, those that fail are searched
			}
			return err
		}
		a.addLasting(b.Plans, l.batches.CanPrepare)
		took = time.Since(begun)
		if l.pulse.Goes(); len(b.Plans) < limit {
			a.readUpTo = batch.Cursor{NextRun: b.Now.Add(a.lead)}
			return nil
		}
		last := b.Plans[limit-1].Task
		a.readUpTo = batch.Cursor{NextRun: last.NextRun, TaskID: last.ID}
	}
	return nil
}

// onTime is how late a task may be and still be decided before those that catch up.
const onTime = 5 * time.Second

// How soon due tasks are read again of which none could be written: others have locked their rows.
const leastRetry, mostRetry = 250 * time.Millisecond, 5 * time.Second

// late is the work on what is due and was not planned ahead.
type late struct {
	found    bool          // the last poll has seen such tasks
	locked   bool          // some of the last round could not be written: others have locked their rows
	progress bool          // a batch of this round has moved a task
	pause    time.Duration // before they are read again, after none could be written; 0: some could
}

// pages are the tasks that are due: those that have a plan, then those that wait for their first one.
type pages struct {
	beyond    batch.Cursor
	recent    time.Time // not zero: the next page takes tasks only that fell due later
	unplanned bool
	done      bool
}

// decideLate reads, decides and writes what is due, page after page, until nothing is left or soft ends. Plans
// whose time comes go first.
func (l *loop) decideLate(soft, hard context.Context) error {
	l.late.found, l.late.locked, l.late.progress, l.ahead.decideAt = false, false, false, time.Time{}
	if l.sinks.broken[periodic.SinkJob] == nil { // else somebody may have locked the table job, which says how runs ended
		if err := l.store.PauseFailing(hard, l.cfg.Hooks); err != nil { // before their ticks are decided
			return err
		}
	}
	w := l.newWriter()
	var rest pages
	var err error
	for !rest.done && err == nil && soft.Err() == nil {
		var begun bool
		switch begun, err = w.writeDue(soft, hard); {
		case begun:
		case isDue(l.clock.byHost(l.ahead.readAt)):
			err = l.readAhead(soft, hard)
		case w.inFlight == maxInFlight:
			err = w.collect(soft, hard)
		default:
			err = l.page(soft, hard, w, &rest)
		}
	}
	if err == nil && soft.Err() == nil {
		err = w.writeSuspects(soft, hard)
	}
	err = w.end(soft, hard, err)
	if err != nil {
		return err
	}
	l.failing.tried(time.Now())
	if l.late.progress {
		l.late.pause = 0
		l.pollNow()
		return nil
	}
	l.late.pause = min(max(2*l.late.pause, leastRetry), mostRetry)
	l.pollWithin(l.late.pause)
	return nil
}

// page reads tasks, decides and begins to write.
func (l *loop) page(soft, hard context.Context, w *writer, rest *pages) error {
	wanted := batch.Wanted{Scope: l.scope(), Limit: l.pace.limit(), Beyond: rest.beyond, Unplanned: rest.unplanned}
	for _, behind := range []time.Time{rest.recent, l.watermark.drainedUpTo} {
		if !rest.unplanned && behind.After(wanted.Beyond.NextRun) {
			wanted.Beyond = batch.Cursor{NextRun: behind}
		}
	}
	b, err := l.batches.Read(hard, wanted)
	if err != nil {
		if !l.isolatable(err) {
			return err
		}
		if b, err = l.readInParts(soft, hard, wanted, err); err != nil {
			return err
		}
	}
	l.pulse.Goes()
	rest.turn(&b, wanted)
	b.Plans = slices.DeleteFunc(b.Plans, func(p periodic.Plan) bool { return p.Held && p.Cancel == "" })
	w.writeLate(hard, b)
	return nil
}

// turn goes on behind a page. While tasks catch up, every other page takes only tasks that are on time.
func (r *pages) turn(b *batch.Batch, w batch.Wanted) {
	full := len(b.Plans) == w.Limit
	switch {
	case !r.recent.IsZero():
		r.recent = time.Time{}
	case full:
		last := b.Plans[len(b.Plans)-1].Task
		r.beyond = batch.Cursor{NextRun: last.NextRun, TaskID: last.ID}
		if recent := b.Now.Add(-onTime); !r.unplanned && last.NextRun.Before(recent) {
			r.recent = recent
		}
	case r.unplanned:
		r.done = true
	default:
		r.unplanned, r.beyond = true, batch.Cursor{}
	}
}
