package diagnosis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// How much of the past is looked at.
const (
	lastTicks = 5
	lastJobs  = 5
	lastLines = 8
	logPage   = 1000
	logPages  = 20
)

// Facts is all that a diagnosis depends on.
type Facts struct {
	Now     time.Time
	skew    time.Duration // how far the database's clock is ahead of the host's
	Task    periodic.Task
	Ticks   []periodic.Tick // the latest first
	Results map[string]periodic.Result
	Jobs    []jobqueue.Job   // of the table job, the latest first
	Last    *periodic.Tick   // the latest that was submitted; nil: there is none
	pending *sink.Pending    // the job that is not final; nil: there is none
	broken  error            // why the queue cannot say
	unknown bool             // this program does not know the task's queue
	retries bool             // that queue can put a job back
	attempt *sink.JobEnd     // of the job in another queue that has not ended; nil: there is none
	queue   *queueFacts      // of nextrun's own queue; nil: no job is in it that is not final
	locks   []leader.Lock    // of schedulers
	overdue *figures.Overdue // what may keep it from being taken; nil: it is not overdue
	Event   *outbox.Record   // of the latest tick of an event task
	topic   outbox.Lag       // of that event; zero: all of it is published
	Failed  *jobqueue.Job    // the latest job that failed, if no later one succeeded
	Output  []string         // the end of its log
	hooks   []hookFact       // that were not delivered
	streak  figures.Streak   // of its failures, if there are two or more in a row
	// what is wrong with its newest ticks, although the last one that ended did so well; empty: nothing
	unsteady string
	wrong    *figures.TickResult // the newest run that failed, if most of them did
	unread   []string            // what cannot be read, and why
}

// Read reads what there is to know about a task. Queues are those of
// [scheduler.Config.Submitters]. It returns [store.ErrNotFound] for a task that does not
// exist.
func Read(ctx context.Context, db *store.DB, queues periodic.Submitters, id string) (*Facts, error) {
	f, err := read(ctx, db, queues, id)
	if err != nil {
		return nil, WithHolders(ctx, db, err)
	}
	return f, nil
}

func read(ctx context.Context, db *store.DB, queues periodic.Submitters, id string) (*Facts, error) {
	tasks := periodic.NewTasks(db.Tasks()).With(queues)
	f := &Facts{}
	var err error
	if f.Task, err = tasks.Get(ctx, id); err != nil {
		return nil, err
	}
	if err := db.View(ctx, func(tx *store.Tx) error { f.Now = tx.Now(); return nil }); err != nil {
		return nil, err
	}
	f.skew = db.ClockSkew()
	for _, part := range []struct {
		what string
		read func() error
	}{
		{"its ticks", func() error { return f.readTicks(ctx, tasks) }},
		{"how its ticks ended", func() (err error) { f.Results, err = tasks.Results(ctx, f.Ticks); return err }},
		{"the locks of schedulers", func() (err error) { f.locks, err = db.Periodic().Locks().List(ctx); return err }},
		{"its jobs or events", func() error { return f.readRuns(ctx, db, tasks, queues) }},
		{"how it has done lately", func() error { return f.readStreak(ctx, db) }},
		{"its hooks", func() (err error) { f.hooks, err = readHooks(ctx, db, id, f.Now); return err }},
		{"what keeps it from being taken", func() error { return f.readOverdue(ctx, db) }},
	} {
		if err := f.part(part.what, part.read()); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// part notes that a part cannot be read, such as for a missing right. It returns the errors
// with which others cannot be read, either.
func (f *Facts) part(what string, err error) error {
	unread, err := partOf(what, err)
	f.unread = append(f.unread, unread...)
	return err
}

func partOf(what string, err error) (unread []string, _ error) {
	if err == nil || errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return []string{fmt.Sprintf("%s (%v)", what, err)}, nil
}

// Unread reports whether a part of the facts cannot be read.
func (f *Facts) Unread() bool { return len(f.unread) > 0 }

func (f *Facts) readTicks(ctx context.Context, tasks *periodic.Tasks) (err error) {
	id := f.Task.ID
	if f.Ticks, err = tasks.Ticks(ctx, periodic.TickFilter{TaskID: id, Limit: lastTicks}); err != nil {
		return err
	}
	submitted, err := tasks.Ticks(ctx, periodic.TickFilter{TaskID: id, Decision: periodic.Submitted, Limit: 1})
	if len(submitted) > 0 {
		f.Last = &submitted[0]
	}
	return err
}

// readRuns reads what became of the ticks that were submitted.
func (f *Facts) readRuns(ctx context.Context, db *store.DB, tasks *periodic.Tasks, queues periodic.Submitters) (err error) {
	if r, ok := queues[f.Task.Sink].(sink.Retrier); ok {
		f.retries = r.Retries()
	}
	if _, known := db.Tasks().Queues(queues)[f.Task.Sink]; !known {
		f.unknown = true
	} else {
		f.pending, f.broken = tasks.Pending(ctx, f.Task.ID)
		if f.broken == nil {
			if f.attempt, err = tasks.Attempts(ctx, f.Task.ID); err != nil {
				return err
			}
		}
	}
	if f.Task.Sink == periodic.SinkEvent {
		err = f.readEvent(ctx, db)
	} else {
		err = f.readJobs(ctx, db)
	}
	if errors.Is(err, store.ErrNoSchema) { // the table job need not be there
		return nil
	}
	return err
}

func (f *Facts) readEvent(ctx context.Context, db *store.DB) error {
	for _, k := range f.Ticks {
		if k.JID == "" {
			continue
		}
		r, err := db.Outbox().Show(ctx, k.JID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		f.Event = &r
		lags, err := db.Outbox().Lag(ctx)
		for _, l := range lags {
			if l.Topic == r.Topic {
				f.topic = l
			}
		}
		return err
	}
	return nil
}

func (f *Facts) readJobs(ctx context.Context, db *store.DB) (err error) {
	queue := jobqueue.NewQueue(db.Jobs())
	if f.pending != nil && f.Task.Sink == periodic.SinkJob {
		if f.queue, err = readQueue(ctx, db); err != nil {
			return err
		}
	}
	if f.Jobs, err = queue.List(ctx, jobqueue.Filter{Tracker: f.Task.ID, Limit: lastJobs}); err != nil {
		return err
	}
	for i := range f.Jobs {
		j := &f.Jobs[i]
		switch {
		case j.State == jobqueue.Success:
			return nil
		case j.State == jobqueue.Failed, j.State == jobqueue.Stuck, j.Retries > 0:
			f.Failed = j
			f.Output, err = tail(ctx, queue, j.JID)
			return f.part("the log of its last failure", err)
		}
	}
	return nil
}

// tail returns the last lines of a job's log.
func tail(ctx context.Context, queue *jobqueue.Queue, jid string) (last []string, err error) {
	err = eachLine(ctx, queue, jid, func(l jobqueue.LogLine) {
		last = append(last, l.Message)
		last = last[max(0, len(last)-lastLines):]
	})
	return last, err
}

// eachLine visits the lines of a job's log, at most 20,000.
func eachLine(ctx context.Context, queue *jobqueue.Queue, jid string, visit func(jobqueue.LogLine)) error {
	after := int64(0)
	for range logPages {
		lines, err := queue.Logs(ctx, jobqueue.LogFilter{JID: jid, After: after, Limit: logPage})
		if err != nil {
			return err
		}
		for _, l := range lines {
			visit(l)
			after = max(after, l.Counter)
		}
		if len(lines) < logPage {
			break
		}
	}
	return nil
}

// TaskStates are all states, in the order in which people read them.
func TaskStates() []periodic.TaskState {
	return []periodic.TaskState{periodic.TaskEnabled, periodic.TaskPaused, periodic.TaskBlocked, periodic.TaskDisabled, periodic.TaskAttention, periodic.TaskFailed, periodic.TaskRetrying, periodic.TaskOverdue, periodic.TaskProblem}
}
