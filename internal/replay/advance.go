package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// Advance moves the clock to a time, from one moment at which something happens to the
// next: a tick falls due, a pause ends, a job ends. The scheduler runs at each of them.
func (r *Replay) Advance(ctx context.Context, to time.Time) error {
	if to.Before(r.Now()) {
		return fmt.Errorf("the clock stands at %s and cannot go back to %s", moment(r.Now()), moment(to))
	}
	for {
		if err := r.Schedule(ctx); err != nil {
			return err
		}
		next, err := r.next(ctx)
		if err != nil {
			return err
		}
		if next.IsZero() || next.After(to) {
			break
		}
		r.set(next)
		if err := r.endDue(ctx); err != nil {
			return err
		}
	}
	r.set(to)
	return nil
}

// Outage moves the clock while no scheduler runs; jobs go on. The scheduler starts again at
// the end of it.
func (r *Replay) Outage(ctx context.Context, to time.Time) error {
	if to.Before(r.Now()) {
		return fmt.Errorf("the clock stands at %s and cannot go back to %s", moment(r.Now()), moment(to))
	}
	for {
		end := r.nextEnd()
		if end.IsZero() || end.After(to) {
			break
		}
		r.set(end)
		if err := r.endDue(ctx); err != nil {
			return err
		}
	}
	r.set(to)
	return r.Schedule(ctx)
}

// Schedule lets the scheduler work until nothing is due. With [Options.Takes], jobs begin when
// they are submitted, and end when they are asked to.
func (r *Replay) Schedule(ctx context.Context) error {
	for {
		if err := r.scheduler.RunOnce(ctx); err != nil {
			return fmt.Errorf("schedule at %s: %w", moment(r.Now()), err)
		}
		if r.takes == nil {
			return nil
		}
		if _, err := r.exec(ctx, `UPDATE job SET state = 'running', started = submitted WHERE state = 'waiting'`); err != nil {
			return err
		}
		asked, err := r.endJobs(ctx, jobqueue.Cancelled, "", "cancel IS NOT NULL AND $4 = ''", "")
		if err != nil || asked == 0 {
			return err
		}
	}
}

// next is when something happens next; zero: never.
func (r *Replay) next(ctx context.Context) (time.Time, error) {
	next := r.nextEnd()
	for _, query := range []string{
		`SELECT min(nextrun) FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun > $1`,
		`SELECT min(paused_until) FROM periodic_task WHERE paused IS NOT NULL AND paused_until > $1`,
	} {
		var at sqldb.Timestamp
		if err := r.Pool.QueryRowContext(ctx, r.bind(query), sqldb.Timestamp(r.Now())).Scan(&at); err != nil {
			return next, err
		}
		next = earlier(next, at.Time())
	}
	return next, nil
}

// never is where nextrun puts a task that does not elapse any more.
const never = 9999

// earlier returns the earlier of two times, of which either may be missing.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || b.Year() >= never || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// ending is when a job will end.
type ending struct {
	at    time.Time
	jid   string
	state jobqueue.State
}

// hear notes when the jobs of submitted ticks will end.
func (r *Replay) hear(e scheduler.Event) {
	if r.observe != nil {
		r.observe(e)
	}
	if r.takes == nil || e.Kind != scheduler.EventTick || e.Tick.JID == "" || e.Tick.Decision != periodic.Submitted {
		return
	}
	took, state := r.takes(*e.Task, e.Tick.Due)
	end := ending{r.Now().Add(max(took, 0)), e.Tick.JID, state}
	r.mu.Lock()
	defer r.mu.Unlock()
	at, _ := slices.BinarySearchFunc(r.running, end.at.Add(1), func(e ending, at time.Time) int { return e.at.Compare(at) })
	r.running = slices.Insert(r.running, at, end)
}

// nextEnd is when the next job ends; zero: none runs.
func (r *Replay) nextEnd() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.running) == 0 {
		return time.Time{}
	}
	return r.running[0].at
}

// endDue ends the jobs whose time has come.
func (r *Replay) endDue(ctx context.Context) error {
	for _, e := range r.ended() {
		if _, err := r.endJobs(ctx, e.state, "", "jid = $4", e.jid); err != nil {
			return err
		}
	}
	return nil
}

// ended takes the jobs that end by now.
func (r *Replay) ended() []ending {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for n < len(r.running) && !r.running[n].at.After(r.clock) {
		n++
	}
	ended := r.running[:n:n]
	r.running = r.running[n:]
	return ended
}

// End ends the jobs of a task that have not ended, as an executor would, and lets the
// scheduler see it. An empty id stands for all tasks. It returns how many there were.
func (r *Replay) End(ctx context.Context, taskID string, state jobqueue.State, result string) (int, error) {
	n, err := r.endJobs(ctx, state, result, "($4 = '' OR tracker = $4)", taskID)
	if err != nil {
		return n, err
	}
	return n, r.Schedule(ctx)
}

// endJobs ends the unfinished jobs that meet a condition on the parameter $4.
func (r *Replay) endJobs(ctx context.Context, state jobqueue.State, result, which, arg string) (int, error) {
	n, err := r.exec(ctx, `UPDATE job SET state = $1, worker = NULL, result = nullif($2, ''),
			started = coalesce(started, submitted), finished = $3
		WHERE state NOT IN ('success', 'failed', 'cancelled') AND `+which,
		string(state), result, sqldb.Timestamp(r.Now()), arg)
	if err != nil {
		return n, fmt.Errorf("end jobs: %w", err)
	}
	return n, nil
}
