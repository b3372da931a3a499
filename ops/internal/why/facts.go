package why

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
)

// How much of the past is looked at.
const (
	lastJobs  = 5
	lastLines = 8
)

// Facts is all that the findings about a task depend on.
type Facts struct {
	view.Task
	Status view.Status
	Failed *view.Run // the latest run that failed, or an attempt of which did, if no later one succeeded
	Output []string  // the end of its log

	job     *jobqueue.Job  // the newest one in nextrun's own queue that is not final; nil: there is none
	judged  judgement      // why that job is where it is
	pending *sink.Pending  // the job in another queue that is not final; nil: there is none
	broken  error          // why that queue cannot say
	unknown bool           // this program does not know the task's queue
	retries bool           // that queue can put a job back
	attempt *sink.JobEnd   // of the job in another queue that has not ended; nil: there is none
	holders *holders       // what may keep it from being taken; nil: it is not due
	event   *outbox.Record // of the latest tick of an event task
	topic   outbox.Lag     // of that event; zero: all of it is published
	hooks   []hookFact     // that were not delivered
	unread  []string       // what cannot be read, and why
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
	t, err := tasks.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	f.Task.Task = &t
	if err := db.View(ctx, func(tx *store.Tx) error { f.Now = tx.Now(); return nil }); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		what string
		read func() error
	}{
		{"its runs", func() error { return f.readRuns(ctx, db) }},
		{"its jobs or events", func() error { return f.readQueue(ctx, db, tasks, queues) }},
		{"the log of its last failure", func() error { return f.readOutput(ctx, db) }},
		{"its hooks", func() error { return f.readHooks(ctx, db) }},
		{"what keeps it from being taken", func() error { return f.readHolders(ctx, db) }},
	} {
		unread, err := partOf(part.what, part.read())
		if f.unread = append(f.unread, unread...); err != nil {
			return nil, err
		}
	}
	f.Status = f.Task.Status()
	return f, nil
}

// partOf notes that a part cannot be read, such as for a missing right. It returns the errors
// with which others cannot be read, either.
func partOf(what string, err error) (unread []string, _ error) {
	if err == nil || errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return []string{fmt.Sprintf("%s (%v)", what, err)}, nil
}

// Unread reports whether a part of the facts cannot be read.
func (f *Facts) Unread() bool { return len(f.unread) > 0 }

// readRuns reads what became of its newest ticks.
func (f *Facts) readRuns(ctx context.Context, db *store.DB) error {
	list, err := view.Of(db).Tasks(ctx, []periodic.Task{*f.Task.Task}, view.Judged)
	if err != nil {
		return err
	}
	f.Task = list[0]
	for i := range f.Runs {
		switch r := &f.Runs[i]; {
		case r.State == "success" || f.Task.Sink == periodic.SinkEvent:
			return nil
		case r.State == "failed", r.State == "stuck", r.State == "running" && r.Attempts > 1, r.State == "waiting" && r.Attempts > 0:
			f.Failed = r
			return nil
		}
	}
	return nil
}

// readOutput reads the last lines of the log of the run that failed.
func (f *Facts) readOutput(ctx context.Context, db *store.DB) error {
	if f.Failed == nil || !f.Failed.Own() {
		return nil
	}
	var err error
	f.Output, err = endOfLog(ctx, db, f.Failed.JID, lastLines)
	return err
}

// endOfLog are the last n lines of the log of a job.
func endOfLog(ctx context.Context, db *store.DB, jid string, n int) ([]string, error) {
	var lines []sqldb.RowText
	err := sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &lines, `SELECT message FROM joblog WHERE jid = $1 ORDER BY counter DESC LIMIT $2`, jid, n)
	})
	output := []string{}
	for _, line := range slices.Backward(lines) {
		output = append(output, string(line))
	}
	return output, err
}

// readQueue reads what the task's queue tells of its job or event.
func (f *Facts) readQueue(ctx context.Context, db *store.DB, tasks *periodic.Tasks, queues periodic.Submitters) (err error) {
	_, known := db.Tasks().Queues(queues)[f.Task.Sink]
	switch {
	case !known:
		f.unknown = true
		return nil
	case f.Task.Sink == periodic.SinkEvent:
		err = f.readEvent(ctx, db)
	case f.Task.Sink == periodic.SinkJob:
		err = f.readJobs(ctx, db)
	default:
		if r, ok := queues[f.Task.Sink].(sink.Retrier); ok {
			f.retries = r.Retries()
		}
		if f.pending, f.broken = tasks.Pending(ctx, f.Task.ID); f.broken == nil {
			f.attempt, err = tasks.Attempts(ctx, f.Task.ID)
		}
	}
	if errors.Is(err, store.ErrNoSchema) { // the table job need not be there
		return nil
	}
	return err
}

func (f *Facts) readEvent(ctx context.Context, db *store.DB) error {
	last := f.Last()
	if last == nil {
		return nil
	}
	r, err := db.Outbox().Show(ctx, last.JID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	f.event = &r
	lags, err := db.Outbox().Lag(ctx)
	for _, l := range lags {
		if l.Topic == r.Topic {
			f.topic = l
		}
	}
	return err
}

// readJobs finds the newest job that is not final, and why it is where it is.
func (f *Facts) readJobs(ctx context.Context, db *store.DB) error {
	list, err := jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{Tracker: f.Task.ID, Limit: lastJobs})
	list = filter(list, func(j jobqueue.Job) bool { return !j.State.Final() })
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		f.judged, err = expected(ctx, db, f.Task.Task)
		return err
	}
	f.job = &list[0]
	subject := "Its job"
	if len(list) > 1 {
		subject = "One of its jobs"
	}
	q, err := readQueue(ctx, db, f.job.JID)
	if err == nil {
		f.judged = q.judge(f.job, subject)
	}
	return err
}
