package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// onTime is how late a task may be and still be decided before those that catch up.
const onTime = 5 * time.Second

// How soon is tried again what could not be written because others have locked it, or a queue that cannot be used.
const leastRetry, mostRetry = 250 * time.Millisecond, 5 * time.Second

// backlog is what is due without a plan that was made ahead: no scheduler ran, the task may be decided only now, or its plan
// came to nothing. The loop owns it.
type backlog struct {
	found  bool            // the last poll has seen such tasks
	locked bool            // some of the last round could not be written: others have locked their rows
	moved  bool            // a batch of this round has moved a task
	pause  service.Backoff // before they are read again, after none could be written
}

// backlogAt is when to read it, by the host's clock; zero: there is none.
func (l *loop) backlogAt() time.Time {
	return earlier(nowIf(l.backlog.found), l.clock.byHost(l.ahead.decideAt))
}

// pages are the tasks of the backlog: those that have a plan, then those that wait for their first one.
type pages struct {
	begun     bool
	beyond    batch.Cursor
	recent    time.Time // not zero: the next page takes tasks only that fell due later
	unplanned bool
	done      bool
}

// beginPages begins to read the backlog. Tasks whose jobs fail are paused before their ticks are decided.
func (w *writer) beginPages(ctx context.Context) error {
	w.rest.begun, w.backlog.found, w.backlog.locked, w.ahead.decideAt = true, false, false, time.Time{}
	if w.broken[periodic.SinkJob] != nil { // somebody may have locked the table job, which says how runs ended
		return nil
	}
	return w.store.PauseFailing(ctx, w.cfg.Hooks)
}

// page reads tasks, decides and begins to write.
func (w *writer) page(soft, hard context.Context) error {
	wanted := batch.Wanted{Scope: w.scope(), Limit: w.pace.limit(), Beyond: w.rest.beyond, Unplanned: w.rest.unplanned}
	for _, behind := range []time.Time{w.rest.recent, w.watermark.drainedUpTo} {
		if !w.rest.unplanned && behind.After(wanted.Beyond.NextRun) {
			wanted.Beyond = batch.Cursor{NextRun: behind}
		}
	}
	b, err := w.batches.Read(soft, wanted)
	if err != nil {
		if !w.isolatable(err) {
			return err
		}
		if b, err = w.readInParts(soft, hard, wanted, err); err != nil {
			return err
		}
	}
	w.pulse.Goes()
	w.rest.turn(&b, wanted)
	if b.Plans = slices.DeleteFunc(b.Plans, writesNothing); len(b.Plans) > 0 {
		return w.begin(soft, hard, b)
	}
	return nil
}

// writesNothing is true for the plan of a task that waits for the end of a job.
func writesNothing(p periodic.Plan) bool { return p.Held && p.Cancel == "" }

// turn goes on behind a page. While tasks catch up, every other page takes only tasks that are on time.
func (r *pages) turn(b *batch.Batch, w batch.Wanted) {
	full := len(b.Plans) == w.Limit
	switch {
	case !r.recent.IsZero():
		r.recent = time.Time{}
	case full:
		last := b.Plans[len(b.Plans)-1].Task
		r.beyond = batch.CursorAt(last)
		if recent := b.Now.Add(-onTime); !r.unplanned && last.NextRun.Before(recent) {
			r.recent = recent
		}
	case r.unplanned:
		r.done = true
	default:
		r.unplanned, r.beyond = true, batch.Cursor{}
	}
}
