// Package notices inserts the jobs of hooks in the transactions of executors and schedulers.
package notices

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Hooks are the hooks of a program on a database. They are safe for concurrent use.
//
//	event                                     package whose tellHooks writes it: methods that it calls
//	jobs that end                             store/internal/jobs: Hears, Tell
//	ticks without a job                       periodic/batch: HearsMissed, TellMissed
//	tasks that are paused after failures      store/internal/tasks: TellPaused
//	jobs in other queues that have ended      store/internal/tasks: HearsEnd, TellEnds
type Hooks struct {
	Hooks hooks.Hooks
	// Next submits a periodic task.
	Next func(ctx context.Context, task string, due time.Time, reason string) error
	// Add adds jobs to the queue, in somebody's transaction.
	Add func(ctx context.Context, tx jobqueue.DBTX, now time.Time, jobs []jobqueue.Job) error
}

var (
	_ exchange.Hooks = Hooks{}
	_ batch.Hooks    = Hooks{}
)

// Handler implements [exchange.Hooks].
func (h Hooks) Handler() jobqueue.Handler { return h.Hooks.Handler(h.Next) }

// Hears implements [exchange.Hooks].
func (h Hooks) Hears(task, tracker string, to jobqueue.State, turned jobqueue.Turned) bool {
	if task == "" {
		return h.Hooks.HearsSome(hooks.EventOf(to))
	}
	return h.Hooks.Hears(task, tracker, hooks.EventOf(to), turned)
}

// Tell implements [exchange.Hooks].
func (h Hooks) Tell(ctx context.Context, tx jobqueue.DBTX, now time.Time, jobs []exchange.Told) error {
	notices := make([]hooks.Notice, len(jobs))
	for i, j := range jobs {
		notices[i] = hooks.OfJob(j.Job, now, j.Lines)
		notices[i].Turned = j.Turned
	}
	return h.insert(ctx, tx, now, notices)
}

// HearsMissed implements [batch.Hooks].
func (h Hooks) HearsMissed(t *periodic.Task) bool {
	return h.Hooks.Hears(t.Task, t.ID, hooks.Missed, "")
}

// TellMissed implements [batch.Hooks].
func (h Hooks) TellMissed(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []batch.MissedTick) error {
	notices := make([]hooks.Notice, len(ticks))
	for i, m := range ticks {
		notices[i] = hooks.Notice{Event: hooks.Missed, At: now, Task: m.Task.ID, Handler: m.Task.Task, Tick: &hooks.Tick{
			Due: m.Tick.Due, Decision: string(m.Tick.Decision), Cause: string(m.Tick.Cause), Reason: m.Tick.Reason,
			Missed: m.Tick.Missed, Until: m.Tick.Until,
		}}
	}
	return h.insert(ctx, tx, now, notices)
}

// TellPaused implements [batch.Hooks].
func (h Hooks) TellPaused(ctx context.Context, tx jobqueue.DBTX, now time.Time, t batch.PausedTask) error {
	return h.insert(ctx, tx, now, []hooks.Notice{{Event: hooks.Paused, At: now, Task: t.ID, Handler: t.Handler, Error: t.Reason}})
}

// HearsEnd implements [batch.Hooks].
func (h Hooks) HearsEnd(t *periodic.Task, k periodic.Tick) bool {
	return h.Hooks.Hears(t.Task, t.ID, endEvent(k.Ended), k.Turned)
}

// TellEnds implements [batch.Hooks].
func (h Hooks) TellEnds(ctx context.Context, tx jobqueue.DBTX, now time.Time, ticks []batch.EndedTick) error {
	notices := make([]hooks.Notice, len(ticks))
	for i, e := range ticks {
		notices[i] = hooks.Notice{
			Event: endEvent(e.Tick.Ended), At: now, Task: e.Task.ID, Handler: e.Task.Task, Tick: &hooks.Tick{Due: e.Tick.Due, Decision: string(e.Tick.Decision)},
			Job: &hooks.Job{
				ID: e.Tick.JID, State: string(e.Tick.Ended), Attempt: e.Tick.Attempts, Group: e.Task.Group, Subject: e.Task.Subject,
				Submitted: e.Tick.Decided, Finished: e.Tick.Finished,
			},
			Error: e.Tick.Error, Turned: e.Tick.Turned,
		}
	}
	return h.insert(ctx, tx, now, notices)
}

// endEvent is what the end of a job in another queue means; empty: nothing that a hook hears of.
func endEvent(s sink.EndState) hooks.Event {
	switch {
	case s.Succeeded():
		return hooks.Success
	case s == sink.EndFailed:
		return hooks.Failure
	}
	return ""
}

// insert adds the jobs of notices. The times of these differ, since the due times of the ticks
// that some of them lead to have to.
func (h Hooks) insert(ctx context.Context, tx jobqueue.DBTX, now time.Time, notices []hooks.Notice) error {
	var jobs []jobqueue.Job
	for i, n := range notices {
		n.At = n.At.Add(time.Duration(i) * time.Microsecond)
		jobs = append(jobs, h.Hooks.Jobs(n)...)
	}
	if len(jobs) == 0 {
		return nil
	}
	return h.Add(ctx, tx, now, jobs)
}
