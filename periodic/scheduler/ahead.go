package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler/internal/batch"
)

// Bounds of what is prepared. More tasks that fall due together are taken when they are due.
const (
	maxAhead      = 10_000   // tasks
	maxAheadBytes = 16 << 20 // about
	taskBytes     = 1 << 10  // of a task and its plan, without its texts
)

// firstPart is how many of the tasks that fall due together are submitted before the
// others, so that the first job need not wait for a large transaction.
const firstPart = 100

// ahead are the plans that were made before their time. They are values in memory: the rows of
// their tasks are neither locked nor marked, and a plan whose row is not as it was read comes to
// nothing. The loop owns it.
type ahead struct {
	lead      time.Duration    // 0: nothing is prepared
	early     time.Duration    // how long before its time a transaction may begin
	plans     []periodic.Plan  // in the order of their time
	begun     bool             // tasks that fell due together are being submitted
	looked    periodic.TickKey // by the database's clock: what falls due up to then, and this task, has been read
	wake      time.Time        // by the database's clock: when to read next; zero: not known
	backlog   time.Time        // by the database's clock: when a task falls due that is not prepared; zero: not known
	lost      int              // how many batches in a row another scheduler has submitted first
	behind    time.Time        // by the host's clock: until then another scheduler goes first
	left      int              // how many times in a row it was left to that one although it was due
	calendars int64            // the edition of the calendars when it was read, or an older one
	ask       time.Time        // by the host's clock: when to ask again whether another one does
}

const (
	// maxLost is how many batches in a row another scheduler has to submit first, before this one
	// stays behind it for a time.
	maxLost = 2
	// stayBehind is how long. A scheduler that finds something left to do stays no longer.
	stayBehind = time.Minute
	// mostLeft is how many times in a row more is left to it while it is at work.
	mostLeft = 3
	// askSoon is when a scheduler that has begun asks again whether another one goes first: those
	// that begin together are not shown yet. askAgain is how often it asks from then on.
	askSoon, askAgain = 2 * time.Second, 30 * time.Second
	// letGo is how long a scheduler that stays behind leaves due tasks to the other.
	letGo = 100 * time.Millisecond
)

// raced notes how many of the tasks of a prepared batch were left for this scheduler. Schedulers
// that prepare the same tasks do the same work in vain, but for one.
func (a *ahead) raced(left int) {
	if a.lost++; left > 0 {
		a.lost = 0
	} else if a.lost >= maxLost {
		a.fallBehind()
	}
}

// fallBehind lets another scheduler go first for a time.
func (a *ahead) fallBehind() {
	a.lost, a.left, a.behind, a.backlog = 0, 0, time.Now().Add(stayBehind), time.Time{}
	a.drop()
}

// overtakes notes that there was something left to do. If the scheduler that goes first does
// nothing, this one does not ask about it for a time.
func (a *ahead) overtakes() {
	if a.isBehind() {
		a.behind, a.ask = time.Time{}, time.Now().Add(stayBehind)
	}
}

// leaves reports whether to leave what is due to the scheduler that goes first for a moment more,
// since somebody has locked some of it. Both together would be slower than one.
func (a *ahead) leaves(ctx context.Context, store taskdb.Watcher, without taskdb.Apart) bool {
	if !a.isBehind() || a.left == mostLeft {
		return false
	}
	a.left++
	locked, err := store.Locked(ctx, letGo/2, without)
	if err != nil || len(locked) == 0 {
		a.left = 0
	}
	return a.left > 0
}

// isBehind reports whether another scheduler goes first.
func (a *ahead) isBehind() bool { return !a.behind.IsZero() && time.Now().Before(a.behind) }

// enable lets a loop prepare tasks, and use what its database can do.
func (a *ahead) enable(l *loop) {
	if a.lead = max(l.cfg.Lead, 0); l.store.OpensEarly() {
		l.batches.Sleep, a.early, l.slow.lanes = waitUntil, batch.MaxEarly, slowLanes
	}
}

// margin is how much earlier than the earliest task that was not read the scheduler
// reads: less than the lead, so that it reads many tasks at a time although they
// fall due one by one.
func (a *ahead) margin() time.Duration { return a.lead * 3 / 4 }

// expect notes when the next task falls due, and returns when to wake for it.
func (a *ahead) expect(next time.Time) time.Time {
	a.wake = time.Time{}
	if a.isBehind() {
		a.backlog = time.Time{}
		return next.Add(letGo)
	}
	if a.lead > 0 && next.After(a.looked.Due) {
		a.wake = next.Add(-a.margin())
		return a.wake
	}
	if len(a.plans) == 0 || next.Before(a.plans[0].Task.NextRun) {
		a.backlog = next
	} else if a.backlog.Before(next) {
		a.backlog = time.Time{} // that task was edited
	}
	return next
}

// room is how many more plans there may be.
func (a *ahead) room() int {
	bytes := 0
	for i := range a.plans {
		t := a.plans[i].Task
		bytes += taskBytes + len(t.ID) + len(t.Task) + len(t.Group) + len(t.Subject) + len(t.Submitter) + len(t.Timer) +
			len(t.Summary) + len(t.Problem) + len(t.Pause.Reason)
	}
	if bytes >= maxAheadBytes {
		return 0
	}
	return maxAhead - len(a.plans)
}

// add adds plans, in any order.
func (a *ahead) add(plans []periodic.Plan) {
	a.plans = append(a.plans, plans...)
	slices.SortStableFunc(a.plans, func(x, y periodic.Plan) int { return x.Task.NextRun.Compare(y.Task.NextRun) })
}

// next is when the first plan is due, by the database's clock; zero: there is none.
func (a *ahead) next() time.Time {
	if len(a.plans) == 0 {
		return time.Time{}
	}
	return a.plans[0].Task.NextRun
}

// begins is when the transaction of the first plan can begin, by the database's clock; zero: there
// is none.
func (a *ahead) begins() time.Time {
	if len(a.plans) == 0 {
		return time.Time{}
	}
	return a.next().Add(-a.early)
}

// soon waits for the first plan if its transaction can begin very soon, and reports whether it can.
func (a *ahead) soon(c *clock) bool {
	at := c.byHost(a.begins())
	if at.IsZero() || time.Until(at) > timerSlack {
		return false
	}
	waitUntil(at)
	return true
}

// take returns at most so many plans that are due, or whose transaction can begin. Those that
// are not due yet are due together.
func (a *ahead) take(now time.Time, most int) []periodic.Plan {
	if next := a.next(); next.After(now) && !next.After(now.Add(a.early)) {
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
func (a *ahead) drop() { a.plans, a.looked, a.wake = nil, periodic.TickKey{}, time.Time{} }

// atHand is how soon a plan may be due that the loop reads no other tasks before, unless
// that takes longer.
const atHand = 50 * time.Millisecond

// lookAhead prepares the tasks that fall due soon.
func (l *loop) lookAhead(running, working context.Context) error {
	a := &l.ahead
	a.wake = time.Time{}
	l.again()
	if a.givesWay(working, l.role) {
		return nil
	}
	took := time.Duration(0)
	for running.Err() == nil {
		begun := time.Now()
		limit := min(a.room(), l.cfg.BatchSize)
		if next := a.next(); limit <= 0 || !next.IsZero() && l.clock.until(next) < max(atHand, 2*took) {
			a.looked = periodic.TickKey{Due: l.clock.now().Add(a.lead)} // the others are taken when they are due
			return nil
		}
		c := taskdb.Claim{Limit: limit, Ahead: a.lead, Beyond: a.looked, Without: l.aside.Apart()}
		b, err := l.batches.Look(working, batch.Wait, c)
		if err != nil {
			a.looked = periodic.TickKey{Due: l.clock.now().Add(a.lead)}
			if l.search.Faults.Isolatable(err) {
				return nil // once they are due, those that fail are searched
			}
			return err
		}
		crashpoint.At("scheduler/prepared")
		a.keep(b.Plans, l.batches.CanPrepare)
		took = time.Since(begun)
		if l.pulse.Beat(nil); len(b.Plans) < limit {
			a.looked = periodic.TickKey{Due: b.Now.Add(a.lead)}
			return nil
		}
		last := b.Plans[limit-1].Task
		a.looked = periodic.TickKey{TaskID: last.ID, Due: last.NextRun}
	}
	return nil
}

// givesWay reports whether another scheduler goes first. Where none can tell, the first to be
// passed by stays behind; see raced.
func (a *ahead) givesWay(ctx context.Context, r role) bool {
	now := time.Now()
	if now.Before(a.ask) {
		return a.isBehind()
	}
	pause := askAgain
	if a.ask.IsZero() {
		pause = askSoon
	}
	a.ask = now.Add(pause)
	if r.precedes(ctx) {
		a.fallBehind()
	}
	return a.isBehind()
}

// keep keeps the plans that can be written as they are once they are due, and notes when the
// first other one is due.
func (a *ahead) keep(plans []periodic.Plan, can func(*periodic.Plan) bool) {
	var keep []periodic.Plan
	for i := range plans {
		if p := &plans[i]; can(p) {
			keep = append(keep, *p)
		} else if next := p.Task.NextRun; a.backlog.IsZero() || next.Before(a.backlog) {
			a.backlog = next
		}
	}
	a.add(keep)
}
