package scheduler

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// maxPlans bounds what is planned ahead. More tasks that fall due together are read when they are due.
const maxPlans = 10_000

// firstPart is how many of the tasks that fall due together are submitted before the
// others, so that the first job need not wait for a large transaction.
const firstPart = 100

// yieldFor is how much later than others a scheduler begins that came too late the last time.
const yieldFor = 20 * time.Millisecond

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

// margin is how much earlier than the earliest task that was not read the scheduler
// reads: less than the lead, so that it reads many tasks at a time although they
// fall due one by one.
func (a *ahead) margin() time.Duration { return a.lead * 3 / 4 }

// planFor notes when the next task falls due, and returns when to wake for it: in time to read it, or when it is due.
func (a *ahead) planFor(next time.Time) time.Time {
	a.readAt = time.Time{}
	if a.lead > 0 && next.After(a.readUpTo.NextRun) {
		a.readAt = next.Add(-a.margin())
		return a.readAt
	}
	if len(a.plans) == 0 || next.Before(a.plans[0].Task.NextRun) {
		a.decideAt = next
	} else if a.decideAt.Before(next) {
		a.decideAt = time.Time{} // that task was edited
	}
	return next
}

// room is how many more plans there may be.
func (a *ahead) room() int { return maxPlans - len(a.plans) }

// add adds plans, in any order.
func (a *ahead) add(plans []periodic.Plan) {
	a.plans = append(a.plans, plans...)
	slices.SortStableFunc(a.plans, func(x, y periodic.Plan) int { return x.Task.NextRun.Compare(y.Task.NextRun) })
}

// addLasting keeps the plans that can be written as they are once they are due, and notes when the
// first other one is due.
func (a *ahead) addLasting(plans []periodic.Plan, lasts func(*periodic.Plan) bool) {
	var keep []periodic.Plan
	for i := range plans {
		if p := &plans[i]; lasts(p) {
			keep = append(keep, *p)
		} else if next := p.Task.NextRun; a.decideAt.IsZero() || next.Before(a.decideAt) {
			a.decideAt = next
		}
	}
	a.add(keep)
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
