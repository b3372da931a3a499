package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// Bounds of what is prepared. More tasks that fall due together are taken when they are due.
const (
	maxPrepared      = 10_000   // tasks
	maxPreparedBytes = 16 << 20 // about
	taskBytes        = 1 << 10  // of a task and its plan, without its texts
)

// firstPart is how many of the tasks that fall due together are submitted before the
// others, so that the first job need not wait for a large transaction.
const firstPart = 100

// prepared are the plans that were made before their time. They are values in memory: the rows of
// their tasks are neither locked nor marked, and a plan whose row is not as it was read comes to
// nothing. The loop owns it.
type prepared struct {
	lead         time.Duration // 0: nothing is prepared
	openEarly    time.Duration // how long before its time a transaction may begin
	plans        []decide.Plan // in the order of their time
	readUpTo     taskdb.Cursor // by the database's clock: what falls due up to then, and this task, has been read
	prepareAt    time.Time     // by the database's clock: when to read next; zero: not known
	unpreparedAt time.Time     // by the database's clock: when a task falls due that is not prepared; zero: not known
	peer         peer
}

// yield lets another scheduler go first for a time.
func (a *prepared) yield() {
	a.peer.yield()
	a.unpreparedAt = time.Time{}
	a.drop()
}

// enable lets a loop prepare tasks, and use what its database can do.
func (a *prepared) enable(l *loop) {
	if a.lead = max(l.cfg.Lead, 0); l.store.OpensEarly() {
		l.batches.Sleep, a.openEarly = waitUntil, batch.MaxEarly
	}
}

// margin is how much earlier than the earliest task that was not read the scheduler
// reads: less than the lead, so that it reads many tasks at a time although they
// fall due one by one.
func (a *prepared) margin() time.Duration { return a.lead * 3 / 4 }

// planFor notes when the next task falls due, and returns when to wake for it: a moment later, if another
// scheduler goes first; in time to prepare it, if that can be done; else when it is due.
func (a *prepared) planFor(next time.Time) time.Time {
	a.prepareAt = time.Time{}
	if a.peer.yielding() {
		a.unpreparedAt = time.Time{}
		return next.Add(backlogDelay)
	}
	if a.lead > 0 && next.After(a.readUpTo.NextRun) {
		a.prepareAt = next.Add(-a.margin())
		return a.prepareAt
	}
	if len(a.plans) == 0 || next.Before(a.plans[0].Task.NextRun) {
		a.unpreparedAt = next
	} else if a.unpreparedAt.Before(next) {
		a.unpreparedAt = time.Time{} // that task was edited
	}
	return next
}

// room is how many more plans there may be.
func (a *prepared) room() int {
	bytes := 0
	for i := range a.plans {
		t := a.plans[i].Task
		bytes += taskBytes + len(t.ID) + len(t.Task) + len(t.Group) + len(t.Subject) + len(t.Submitter) + len(t.Timer) +
			len(t.Summary) + len(t.Problem) + len(t.Pause.Reason)
	}
	if bytes >= maxPreparedBytes {
		return 0
	}
	return maxPrepared - len(a.plans)
}

// add adds plans, in any order.
func (a *prepared) add(plans []decide.Plan) {
	a.plans = append(a.plans, plans...)
	slices.SortStableFunc(a.plans, func(x, y decide.Plan) int { return x.Task.NextRun.Compare(y.Task.NextRun) })
}

// next is when the first plan is due, by the database's clock; zero: there is none.
func (a *prepared) next() time.Time {
	if len(a.plans) == 0 {
		return time.Time{}
	}
	return a.plans[0].Task.NextRun
}

// openAt is when the transaction of the first plan can begin, by the database's clock; zero: there
// is none.
func (a *prepared) openAt() time.Time {
	if len(a.plans) == 0 {
		return time.Time{}
	}
	return a.next().Add(-a.openEarly)
}

// soon waits for the first plan if its transaction can begin very soon, and reports whether it can.
func (a *prepared) soon(c *clock) bool {
	at := c.byHost(a.openAt())
	if at.IsZero() || time.Until(at) > timerSlack {
		return false
	}
	waitUntil(at)
	return true
}

// popDue returns at most so many plans that are due, or whose transaction can begin. Those that
// are not due yet are due together.
func (a *prepared) popDue(now time.Time, most int) []decide.Plan {
	if next := a.next(); next.After(now) && !next.After(now.Add(a.openEarly)) {
		now = next
	}
	n := 0
	for n < min(most, len(a.plans)) && !a.plans[n].Task.NextRun.After(now) {
		n++
	}
	due := a.plans[:n:n]
	a.plans = a.plans[n:]
	return due
}

// drop gives up all plans.
func (a *prepared) drop() { a.plans, a.readUpTo, a.prepareAt = nil, taskdb.Cursor{}, time.Time{} }

// atHand is how soon a plan may be due that the loop reads no other tasks before, unless
// that takes longer.
const atHand = 50 * time.Millisecond

// prepareSoon prepares the tasks that fall due soon.
func (l *loop) prepareSoon(soft, hard context.Context) error {
	a := &l.prepared
	a.prepareAt = time.Time{}
	l.pollNow()
	if a.peer.check(hard, l.role) {
		a.yield()
	}
	if a.peer.yielding() {
		return nil
	}
	took := time.Duration(0)
	for soft.Err() == nil {
		begun := time.Now()
		limit := min(a.room(), l.cfg.BatchSize)
		if next := a.next(); limit <= 0 || !next.IsZero() && l.clock.until(next) < max(atHand, 2*took) {
			a.readUpTo = taskdb.Cursor{NextRun: l.clock.now().Add(a.lead)} // the others are taken when they are due
			return nil
		}
		c := taskdb.Claim{Limit: limit, Ahead: a.lead, Beyond: a.readUpTo, Exclude: l.aside.Exclude()}
		b, err := l.batches.Prepare(hard, batch.LockTimeout, c)
		if err != nil {
			a.readUpTo = taskdb.Cursor{NextRun: l.clock.now().Add(a.lead)}
			if l.search.Faults.Isolatable(err) {
				return nil // once they are due, those that fail are searched
			}
			return err
		}
		a.addPreparable(b.Plans, l.batches.CanPrepare)
		took = time.Since(begun)
		if l.pulse.Beat(nil); len(b.Plans) < limit {
			a.readUpTo = taskdb.Cursor{NextRun: b.Now.Add(a.lead)}
			return nil
		}
		last := b.Plans[limit-1].Task
		a.readUpTo = taskdb.Cursor{NextRun: last.NextRun, TaskID: last.ID}
	}
	return nil
}

// addPreparable keeps the plans that can be written as they are once they are due, and notes when the
// first other one is due.
func (a *prepared) addPreparable(plans []decide.Plan, can func(*decide.Plan) bool) {
	var keep []decide.Plan
	for i := range plans {
		if p := &plans[i]; can(p) {
			keep = append(keep, *p)
		} else if next := p.Task.NextRun; a.unpreparedAt.IsZero() || next.Before(a.unpreparedAt) {
			a.unpreparedAt = next
		}
	}
	a.add(keep)
}
