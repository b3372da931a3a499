package jobqueue

import (
	"context"
	"time"
)

const (
	// notePatience is how long lines and progress are gathered before they are
	// written.
	notePatience = 200 * time.Millisecond
	// cancelInterval is how often cancellations are looked for while jobs run,
	// in case a notification was lost; cancelPause is the least time between
	// two looks.
	cancelInterval = 900 * time.Millisecond
	cancelPause    = 100 * time.Millisecond
	// secondLook is when to look again after a claim that found nothing: what
	// it passed over may have been locked by another executor that took less.
	secondLook = 100 * time.Millisecond
	// lockedPause is when to try again to change a row that somebody else has
	// locked.
	lockedPause = 500 * time.Millisecond
	// recordPause is how often at most the last group is recorded: it matters
	// only to the next process of that name.
	recordPause = time.Second
	// kindsTime is how long claims rely on what an earlier one found out about
	// the kinds of jobs that wait, unless a change is told of.
	kindsTime = 100 * time.Millisecond
	// maxGather limits the wait for jobs that have just begun to end, too, so
	// that short jobs are recorded and replaced together. It lasts no longer
	// than the transaction that it may save.
	maxGather = 5 * time.Millisecond
)

// loop is the executor's one goroutine that owns the jobs in hand. It tells the
// database what happened, and asks it for work, in one transaction at a time:
// what happens meanwhile goes into the next one.
type loop struct {
	e     *Executor
	cfg   Config
	hard  context.Context // ends when Stop gives up
	tasks []string

	hand  map[*attempt]bool // every job in hand
	byJID map[string]*attempt
	group string
	phase int

	kinds       []Kind    // that wait, as the last claim found
	kindsTo     time.Time // until when to rely on that
	recorded    time.Time // when the group was
	round       int       // number of exchanges
	fresh       int       // jobs begun by the last exchange that have not ended
	gatherTo    time.Time // until when to wait for them
	look        int       // how many claims that find nothing to make; 0: none
	lookAt      time.Time // not before
	noteAt      time.Time
	beatAt      time.Time
	cancelAt    time.Time
	checkAt     time.Time // when to recover and to poll
	failures    int       // in a row
	unrecovered int       // checks that failed in a row
	unheard     bool      // a claim may have got jobs, but the answer was lost
	retryAt     time.Time // after a failure

	stopping bool
	graceEnd time.Time
	giveUp   time.Time // when to end although the database cannot be reached
}

func newLoop(hard context.Context, e *Executor, tasks []string) *loop {
	return &loop{
		e: e, cfg: e.cfg, hard: hard, tasks: tasks,
		hand: map[*attempt]bool{}, byJID: map[string]*attempt{},
	}
}

// run returns the jobs that are still in hand.
func (l *loop) run(soft context.Context) []string {
	l.emit(Event{Kind: EventStarted, Worker: l.e.worker})
	timer := time.NewTimer(0)
	defer timer.Stop()
	group, err := l.e.store.LastGroup(l.hard, l.cfg.Name)
	if err != nil {
		l.trouble(err)
	}
	l.group = group
	stop := soft.Done()
	for {
		l.read(time.Now())
		if l.hard.Err() == nil {
			l.work(time.Now())
		}
		if l.finished(time.Now()) {
			break
		}
		timer.Reset(time.Until(l.next()))
		select {
		case <-l.e.inbox.wake:
		case <-timer.C:
		case <-stop:
			stop = nil
			l.shutDown(time.Now())
		case <-l.hard.Done():
		}
	}
	return l.leave()
}

// read takes in what others have told.
func (l *loop) read(now time.Time) {
	m := l.e.inbox.open(now, notePatience)
	l.noteAt = m.noteAt
	for a := range m.dirty {
		if l.hand[a] {
			a.fetch(false)
		}
	}
	for _, o := range m.outcomes {
		l.ended(o)
	}
	if m.changed {
		l.look, l.lookAt, l.kinds = 2, time.Time{}, nil
		if soon := now.Add(cancelPause); l.cancelAt.After(soon) {
			l.cancelAt = soon
		}
	}
}

// fetch takes what the handler has told of the job; unless that is the last, not
// before what it told earlier is written, so that it waits as long as nothing
// can be. What nobody will write is dropped.
func (a *attempt) fetch(last bool) {
	if a.more = len(a.pending) > 0 && !last && !a.gone; a.more {
		return
	}
	lines, percent := a.notes.fetch()
	if a.gone {
		return
	}
	a.pending = append(a.pending, lines...)
	if percent >= 0 {
		a.percent = percent
	}
}

// work does all that is due in the database.
func (l *loop) work(now time.Time) {
	if l.retryAt.After(now) {
		return
	}
	for _, step := range []func(time.Time) error{l.beat, l.check, l.cancellations, l.exchange} {
		if err := step(now); err != nil {
			if l.hard.Err() == nil {
				l.failed(err, time.Now())
			}
			return
		}
	}
	l.failures, l.giveUp = 0, time.Time{}
}

// failed puts the next try off. What was to be done is still to be done.
func (l *loop) failed(err error, now time.Time) {
	wait := pause(l.failures)
	l.failures++
	l.retryAt = now.Add(wait)
	l.emit(Event{Kind: EventTrouble, Err: err, Duration: wait})
	if l.stopping && l.giveUp.IsZero() {
		l.giveUp = now.Add(l.cfg.Lease)
	}
}

// next is when the loop has something to do by itself.
func (l *loop) next() time.Time {
	now := time.Now()
	at := now.Add(time.Hour)
	sooner := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	if l.stopping && !l.graceEnd.IsZero() {
		sooner(l.graceEnd)
	}
	if !l.noteAt.IsZero() {
		sooner(l.noteAt)
	}
	if len(l.hand) > 0 {
		sooner(l.beatAt)
		sooner(l.cancelAt)
	}
	if !l.stopping {
		sooner(l.checkAt)
	}
	if l.fresh > 1 {
		sooner(l.gathering(now))
	}
	if due, pending := l.ordersDue(); pending {
		sooner(l.gathered(due))
	}
	if at.Before(l.retryAt) {
		at = l.retryAt
	}
	return at
}

func (l *loop) emit(event Event) { l.e.emit(event) }

func (l *loop) trouble(err error) {
	if l.hard.Err() == nil {
		l.emit(Event{Kind: EventTrouble, Err: err})
	}
}
