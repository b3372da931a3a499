package why

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// Explanation is all that the findings about a task depend on.
type Explanation struct {
	view.Task
	Status view.Status
	Failed *view.Run // the latest run that failed, or an attempt of which did, if no later one succeeded
	Output []string  // the end of its log

	job     *jobqueue.Job  // the newest one in nextrun's own queue that is not final; nil: there is none
	where   view.Code      // why that job is where it is
	about   Args           // of these words
	pending *sink.Pending  // the job in another queue that is not final; nil: there is none
	broken  error          // why that queue cannot say
	unknown bool           // this program does not know the task's queue
	retries bool           // that queue can put a job back
	attempt *sink.JobEnd   // of the job in another queue that has not ended; nil: there is none
	held    *held          // what may keep it from being taken; nil: it is not due
	event   *outbox.Record // of the latest tick of an event task
	topic   outbox.Lag     // of that event; zero: all of it is published
	hooks   []hookJob      // that were not delivered
	unread  []string       // what cannot be read, and why
}

// Explain reads what there is to know about a task. Queues are those of
// [scheduler.Config.Submitters]. It returns [store.ErrNotFound] for a task that does not
// exist.
func Explain(ctx context.Context, db *store.DB, queues periodic.Submitters, id string) (*Explanation, error) {
	e, err := read(ctx, db, queues, id)
	if err != nil {
		return nil, WithHolders(ctx, db, err)
	}
	e.Status = e.Task.Status()
	return e, nil
}

func read(ctx context.Context, db *store.DB, queues periodic.Submitters, id string) (*Explanation, error) {
	tasks := periodic.NewTasks(db.Tasks()).With(queues)
	t, err := tasks.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	e := &Explanation{Task: view.Task{Task: &t}}
	if err := db.View(ctx, func(tx *store.Tx) error { e.Now = tx.Now(); return nil }); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		what string
		read func() error
	}{
		{"its runs", func() error { return e.readRuns(ctx, db) }},
		{"its jobs or events", func() error { return e.readQueue(ctx, db, tasks, queues) }},
		{"the log of its last failure", func() error { return e.readOutput(ctx, db) }},
		{"its hooks", func() error { return e.readHooks(ctx, db) }},
		{"what keeps it from being taken", func() error { return e.readHeld(ctx, db) }},
	} {
		unread, err := partOf(part.what, part.read())
		if e.unread = append(e.unread, unread...); err != nil {
			return nil, err
		}
	}
	return e, nil
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
func (e *Explanation) Unread() bool { return len(e.unread) > 0 }

// readRuns reads what became of its newest ticks.
func (e *Explanation) readRuns(ctx context.Context, db *store.DB) error {
	list, err := view.Of(db).Tasks(ctx, []periodic.Task{*e.Task.Task}, view.Judged)
	if err != nil {
		return err
	}
	e.Task = list[0]
	for i := range e.Runs {
		switch r := &e.Runs[i]; {
		case r.State == "success" || e.Sink == periodic.SinkEvent:
			return nil
		case r.State == "failed", r.State == "stuck", r.State == "running" && r.Attempts > 1, r.State == "waiting" && r.Attempts > 0:
			e.Failed = r
			return nil
		}
	}
	return nil
}

// readOutput reads the last lines of the log of the run that failed.
func (e *Explanation) readOutput(ctx context.Context, db *store.DB) (err error) {
	if e.Failed != nil && e.Failed.Own() {
		e.Output, err = endOfLog(ctx, db, e.Failed.JID, lastLines)
	}
	return err
}

// endOfLog are the last n lines of the log of a job; a message may have several.
func endOfLog(ctx context.Context, db *store.DB, jid string, n int) ([]string, error) {
	var lines []sqldb.RowText
	err := sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &lines, `SELECT message FROM joblog WHERE jid = $1 ORDER BY counter DESC LIMIT $2`, jid, n)
	})
	output := []string{}
	for _, line := range slices.Backward(lines) {
		output = append(output, strings.Split(string(line), "\n")...)
	}
	return output[max(0, len(output)-n):], err
}

// readQueue reads what the task's queue tells of its job or event.
func (e *Explanation) readQueue(ctx context.Context, db *store.DB, tasks *periodic.Tasks, queues periodic.Submitters) (err error) {
	_, known := db.Tasks().Queues(queues)[e.Sink]
	switch {
	case !known:
		e.unknown = true
	case e.Sink == periodic.SinkEvent:
		err = e.readEvent(ctx, db)
	case e.Sink == periodic.SinkJob:
		err = e.readJobs(ctx, db)
	default:
		if r, ok := queues[e.Sink].(sink.Retrier); ok {
			e.retries = r.Retries()
		}
		if e.pending, e.broken = tasks.Pending(ctx, e.ID); e.broken == nil {
			e.attempt, err = tasks.Attempts(ctx, e.ID)
		}
	}
	if errors.Is(err, store.ErrNoSchema) { // the table job need not be there
		return nil
	}
	return err
}

func (e *Explanation) readEvent(ctx context.Context, db *store.DB) error {
	last := e.Last()
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
	e.event = &r
	lags, err := db.Outbox().Lag(ctx)
	if i := slices.IndexFunc(lags, func(l outbox.Lag) bool { return l.Topic == r.Topic }); i >= 0 {
		e.topic = lags[i]
	}
	return err
}

// readJobs finds the newest job that is not final, and why it is where it is; or that nobody could take the next one.
func (e *Explanation) readJobs(ctx context.Context, db *store.DB) error {
	list, err := jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{Tracker: e.ID, Limit: lastJobs})
	list = filter(list, func(j jobqueue.Job) bool { return !j.State.Final() })
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		return e.readNext(ctx, db)
	}
	q, err := readFacts(ctx, db, list[0].JID)
	if err != nil {
		return err
	}
	e.job = &list[0]
	e.where, e.about = q.judge(e.job, map[bool]string{true: "Its job", false: "One of its jobs"}[len(list) == 1])
	return nil
}

// readNext finds that executors run, and none could take the next job.
func (e *Explanation) readNext(ctx context.Context, db *store.DB) error {
	q, err := readExecutors(ctx, db)
	if err != nil {
		return err
	}
	e.about = Args{"Handler": e.Task.Task.Task, "Group": e.Group, "Task": e.ID}
	if len(q.living()) > 0 {
		e.where = q.nobody(&jobqueue.Job{Task: e.Task.Task.Task, Group: e.Group}, e.about)
	}
	return nil
}
