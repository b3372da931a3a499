package measure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/periodic/scheduler"
)

// Burst says when the jobs of tasks that are due at the same time are committed: how long after they are due, as the
// program sees it that submits them.
type Burst struct{ First, All time.Duration }

// Between is how long before they are due the tasks of a burst are in the table, at least.
const between = 2 * time.Second

// dueAtLast is how long after the estimated time the tasks of a burst are due by the database's own clock, at the latest.
const dueAtLast = 10 * time.Second

// RunBurst has a scheduler of this process submit so many tasks, which are due at the same time.
func RunBurst(ctx context.Context, db *DB, tasks int) (b Burst, err error) {
	due, err := AddBurst(ctx, db, tasks)
	if err != nil {
		return b, err
	}
	seen := newTicks(tasks)
	stop, err := schedule(ctx, db, func(e scheduler.Event) {
		if e.Kind == scheduler.EventTick && isOurs(e.Tick.TaskID) {
			seen.add(now(db).Sub(due))
		}
	})
	if err != nil {
		return b, err
	}
	all, err := seen.wait(ctx)
	if err := errors.Join(err, stop()); err != nil {
		return b, err
	}
	return Burst{all[0], all[len(all)-1]}, nil
}

// PlainBurst submits such tasks with plain statements in one transaction.
func PlainBurst(ctx context.Context, db *DB, tasks int) (b Burst, err error) {
	due, err := AddBurst(ctx, db, tasks)
	if err != nil {
		return b, err
	}
	if err := sleepUntil(ctx, db, due); err != nil {
		return b, err
	}
	for left := tasks; left > 0; {
		n, err := db.Plain.Submit(ctx)
		if left -= n; err != nil {
			return b, err
		}
		// What is known of the database's clock is an estimate: it may not be time yet.
		if n == 0 && now(db).Sub(due) > dueAtLast {
			return b, fmt.Errorf("plain SQL submitted %d of %d tasks", tasks-left, tasks)
		}
	}
	took := now(db).Sub(due)
	return Burst{took, took}, nil
}

// AddBurst adds tasks to a database, all due at a whole second that is some seconds ahead.
func AddBurst(ctx context.Context, db *DB, tasks int) (due time.Time, err error) {
	ahead := between + time.Second + time.Duration(tasks)*100*time.Microsecond
	for range 4 { // a machine may be slower than thought
		due = now(db).Add(ahead).Truncate(time.Second).Add(time.Second)
		if err := db.Plain.AddTasks(ctx, tasks, due); err != nil {
			return due, err
		}
		if now(db).Add(between).Before(due) {
			return due, nil
		}
		if err := db.Plain.RemoveTasks(ctx); err != nil {
			return due, err
		}
		ahead *= 3
	}
	return due, fmt.Errorf("adding %d tasks took longer than %s", tasks, ahead)
}

// now is the time by the database's clock.
func now(db *DB) time.Time { return time.Now().Add(db.ClockSkew()) }

func sleepUntil(ctx context.Context, db *DB, at time.Time) error {
	timer := time.NewTimer(at.Sub(now(db)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func isOurs(task string) bool { return strings.HasPrefix(task, "bench-") }

// schedule starts a scheduler that says nothing. stop waits for its end.
func schedule(ctx context.Context, db *DB, observe func(scheduler.Event)) (stop func() error, err error) {
	s, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "bench", Logger: quiet(), Observe: observe})
	if err != nil {
		return nil, err
	}
	if err := s.Start(ctx); err != nil {
		return nil, err
	}
	return func() error { return s.Stop(context.WithoutCancel(ctx)) }, nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// ticks gathers a number of durations.
type ticks struct {
	mu   sync.Mutex
	list []time.Duration
	want int
	full chan struct{}
}

func newTicks(want int) *ticks {
	return &ticks{want: want, list: make([]time.Duration, 0, want), full: make(chan struct{})}
}

func (t *ticks) add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) == t.want {
		return
	}
	if t.list = append(t.list, d); len(t.list) == t.want {
		close(t.full)
	}
}

// wait returns the durations, in the order in which they came.
func (t *ticks) wait(ctx context.Context) ([]time.Duration, error) {
	select {
	case <-t.full:
		return t.list, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
