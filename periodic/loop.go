package periodic

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/leader"
)

// lockedRetry is how soon due rows that somebody else has locked are tried
// again.
const lockedRetry = 250 * time.Millisecond

// clockSlack is the least time to sleep: clocks advance by no finer steps.
const clockSlack = time.Millisecond

// loop is what the scheduler's one goroutine owns. Work that may have to wait for
// somebody's lock is done beside it, by functions that return their findings.
type loop struct {
	cfg     Config
	store   backend.Store
	commit  committer
	role    role
	marks   *marks
	observe func(Event)
	wake    <-chan struct{}

	beside   chan findings // from goroutines beside the loop
	workers  int           // their number
	retrying bool          // one of them tries again what was set aside

	aside    aside
	follower follower
	failed   error // error of the work beside the loop
	untended bool  // queued ticks that have no entry in periodic_ready have to be found
	progress bool  // a batch of this round moved a task
	clock    clock
	stale    []string  // marks to remove
	unmarked time.Time // when that was last tried
}

// marks makes the marks of a scheduler. It is safe for concurrent use.
type marks struct {
	prefix string
	n      atomic.Uint64
}

func (m *marks) next() string { return fmt.Sprintf("%s.%d", m.prefix, m.n.Add(1)) }

// run schedules until running ends, then finishes the batches in flight unless
// working ends too. If it ended by itself, it returns why.
func (l *loop) run(running, working context.Context) error {
	retry := service.Backoff{Least: l.cfg.RetryMin, Most: l.cfg.RetryMax}
	begun := false
	for running.Err() == nil {
		if !l.role.schedules() {
			begun = false
			l.finish(working)
			if err := l.role.await(running); err != nil {
				if running.Err() == nil {
					return err
				}
				break
			}
		}
		var pause idle
		var err error
		if !begun {
			err = l.begin(working)
			begun = err == nil
		}
		if err == nil {
			pause, err = l.round(running, working)
		}
		if errors.Is(err, leader.ErrLost) {
			continue
		}
		wait := l.pause(pause)
		if err != nil {
			l.fail("schedule", err)
			wait = retry.Next()
		} else {
			retry.Reset()
		}
		l.role.judge(err)
		_ = l.sleep(running, wait) // the loop checks whether it has to end
	}
	l.finish(working)
	return nil
}

// once schedules until nothing is due. It returns the first error.
func (l *loop) once(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.finish(context.WithoutCancel(ctx))
	for tries := 0; ; {
		idle, err := l.round(ctx, ctx)
		if err != nil {
			return err
		}
		// Rows that others have locked, and what fails alone, are tried again a few
		// times.
		if l.workers == 0 && (len(l.stale) > 0 || l.aside.waits()) && tries < maxTries {
			tries++
			idle.locked = true
		}
		if l.workers == 0 && !idle.locked {
			return nil
		}
		if err := l.sleep(ctx, lockedRetry); err != nil {
			return fmt.Errorf("due tasks are locked by another transaction: %w", err)
		}
	}
}

// maxTries is how often once retries rows that somebody else has locked. After
// that, their marks have to expire.
const maxTries = 4

// begin clears marks that an earlier run left.
func (l *loop) begin(ctx context.Context) error {
	if _, err := l.clear(ctx, l.cfg.Name); err != nil {
		return err
	}
	l.untended = true
	return nil
}

// finish waits for the work beside the loop and removes this scheduler's marks.
func (l *loop) finish(ctx context.Context) {
	for l.workers > 0 {
		l.absorb(<-l.beside)
	}
	l.failed, l.unmarked = nil, time.Time{}
	if err := l.unmarkStale(ctx); err != nil {
		l.fail("remove own marks", err)
	}
}

// idle is why a round ended.
type idle struct {
	peek   backend.Peek
	locked bool // due rows are left because somebody else has locked them
}

// pause is how long to sleep after a round.
func (l *loop) pause(i idle) time.Duration {
	wait := l.cfg.PollInterval
	sooner := func(d time.Duration) { wait = min(wait, max(d, clockSlack)) }
	if !i.peek.Next.IsZero() {
		sooner(i.peek.Next.Sub(i.peek.Now))
	}
	if !i.peek.Marked.IsZero() {
		sooner(i.peek.Marked.Add(l.cfg.Lease + time.Millisecond).Sub(i.peek.Now))
	}
	if i.locked || len(l.stale) > 0 {
		sooner(lockedRetry)
	}
	if l.follower.pause > 0 {
		sooner(time.Until(l.follower.due))
	}
	if next := l.aside.next(); !next.IsZero() && !l.retrying {
		sooner(time.Until(next))
	}
	return wait
}

// sleep waits for a time, a wake-up, findings or the end of ctx, whose error it
// returns.
func (l *loop) sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case f := <-l.beside:
		l.absorb(f)
	case <-l.wake:
	case <-timer.C:
	}
	return nil
}

func (l *loop) fail(doing string, err error) {
	l.observe(Event{Kind: EventError, Doing: doing, Err: err})
}
