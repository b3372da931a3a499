package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

const (
	// maxPlans bounds what is planned ahead. More tasks that fall due together are read when they are due.
	maxPlans = 10_000
	// atHand is how soon a plan may be due that the loop reads no other tasks before, unless
	// that takes longer.
	atHand = 50 * time.Millisecond
	// yieldFor is how much later than others a scheduler begins that came too late the last time.
	yieldFor = 20 * time.Millisecond
)

// ahead are the plans that were made before their time. They are values in memory: the rows of
// their tasks are neither locked nor marked, and a plan whose row is not as it was read comes to
// nothing. The loop owns it.
type ahead struct {
	lead      time.Duration   // 0: nothing is read ahead
	openEarly time.Duration   // how long before its time a transaction may begin
	yields    time.Duration   // how much later than its time it begins, since another scheduler was first
	plans     []periodic.Plan // in the order of their time
	readUpTo  batch.Cursor    // by the database's clock: what falls due up to then, and this task, has been read
	readAt    time.Time       // by the database's clock: when to read next; zero: not known
	decideAt  time.Time       // by the database's clock: when a task falls due that has to be decided then; zero: not known
}

// readAhead reads the tasks that fall due soon, and decides.
func (l *loop) readAhead(soft, _ context.Context) (pollIn time.Duration, err error) {
	a := &l.ahead
	a.readAt = time.Time{}
	took := time.Duration(0)
	for soft.Err() == nil {
		begun := time.Now()
		limit := maxPlans - len(a.plans)
		if next := a.next(); limit <= 0 || !next.IsZero() && l.clock.until(next) < max(atHand, 2*took) {
			a.readUpTo = batch.Cursor{NextRun: l.clock.now().Add(a.lead)} // the others are read when they are due
			return 0, nil
		}
		b, err := l.batches.Read(soft, batch.Wanted{Scope: l.scope(), Limit: limit, Ahead: a.lead, Beyond: a.readUpTo})
		if err != nil {
			a.readUpTo = batch.Cursor{NextRun: l.clock.now().Add(a.lead)}
			if l.isolatable(err) {
				return 0, nil // once they are due, those that fail are searched
			}
			return 0, err
		}
		a.keep(b.Plans)
		took = time.Since(begun)
		if l.pulse.Goes(); len(b.Plans) < limit {
			a.readUpTo = batch.Cursor{NextRun: b.Now.Add(a.lead)}
			return 0, nil
		}
		a.readUpTo = batch.CursorAt(b.Plans[limit-1].Task)
	}
	return 0, nil
}

// planFor notes when the next task falls due, and returns when to wake for it: in time to read it, or when it is due.
// It is read earlier than it has to be, but by less than the lead: so the scheduler reads many tasks at a time although
// they fall due one by one.
func (a *ahead) planFor(next time.Time) time.Time {
	a.readAt = time.Time{}
	if a.lead > 0 && next.After(a.readUpTo.NextRun) {
		a.readAt = next.Add(-a.lead * 3 / 4)
		return a.readAt
	}
	if len(a.plans) == 0 || next.Before(a.plans[0].Task.NextRun) {
		a.decideAt = next
	} else if a.decideAt.Before(next) {
		a.decideAt = time.Time{} // that task was edited
	}
	return next
}

// add adds plans, in any order.
func (a *ahead) add(plans []periodic.Plan) {
	a.plans = append(a.plans, plans...)
	slices.SortStableFunc(a.plans, func(x, y periodic.Plan) int { return x.Task.NextRun.Compare(y.Task.NextRun) })
}

// keep keeps the plans that can be written as they are once they are due, and notes when the
// first other one is due.
func (a *ahead) keep(plans []periodic.Plan) {
	var kept []periodic.Plan
	for i := range plans {
		if p := &plans[i]; p.MayBeMadeAhead() {
			kept = append(kept, *p)
		} else {
			a.decideAt = earlier(a.decideAt, p.Task.NextRun)
		}
	}
	a.add(kept)
}

// next is when the first plan is due, by the database's clock; zero: there is none.
func (a *ahead) next() time.Time {
	if len(a.plans) == 0 {
		return time.Time{}
	}
	return a.plans[0].Task.NextRun
}

// openAt is when the transaction of the first plan can begin, by the database's clock; zero: there
// is none.
func (a *ahead) openAt() time.Time {
	switch {
	case len(a.plans) == 0:
		return time.Time{}
	case a.yields > 0:
		return a.next().Add(a.yields)
	}
	return a.next().Add(-a.openEarly)
}

// popDue returns at most so many plans that are due, or whose transaction can begin. Those that
// are not due yet are due together.
func (a *ahead) popDue(now time.Time, most int) []periodic.Plan {
	if next := a.next(); a.yields > 0 {
		now = now.Add(-a.yields)
	} else if next.After(now) && !next.After(now.Add(a.openEarly)) {
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

// dropDue gives up the plans that are due: another scheduler is writing them.
func (a *ahead) dropDue(now time.Time) {
	a.plans = slices.DeleteFunc(a.plans, func(p periodic.Plan) bool { return !p.Task.NextRun.After(now) })
}

// drop gives up all plans.
func (a *ahead) drop() { a.plans, a.readUpTo, a.readAt = nil, batch.Cursor{}, time.Time{} }
