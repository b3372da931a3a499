package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
)

// acme is a queue of somebody else: the table acme_job.
type acme struct {
	mu     sync.Mutex
	refuse map[string]sink.Submission // by the job's task
	submit func(jobqueue.Job) error
	broken error // of Pending
}

func (q *acme) set(change func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change()
}

func (q *acme) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var done []sink.Submission
	for _, j := range jobs {
		if r, ok := q.refuse[j.Task]; ok {
			r.JID = j.JID
			done = append(done, r)
			continue
		}
		if q.submit != nil {
			if err := q.submit(j); err != nil {
				return nil, err
			}
		}
		ref := "acme-" + j.JID
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO acme_job (ref, task, args, tracker, state) VALUES ('%s', '%s', '%s', '%s', 'new')`,
			ref, j.Task, strings.ReplaceAll(j.Args, "'", "''"), j.Tracker))
		if err != nil {
			return nil, err
		}
		done = append(done, sink.Submission{JID: j.JID, Ref: ref})
	}
	return done, nil
}

func (q *acme) Pending(ctx context.Context, tx jobqueue.DBTX, open []sink.Open) ([]sink.Pending, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.broken != nil {
		return nil, q.broken
	}
	var list []sink.Pending
	for _, o := range open {
		var state string
		err := tx.QueryRowContext(ctx, fmt.Sprintf(`SELECT coalesce(max(state), 'gone') FROM acme_job WHERE ref = '%s'`, o.Ref)).Scan(&state)
		switch {
		case err != nil:
			return nil, err
		case state == "new":
			list = append(list, sink.Pending{JID: o.JID, State: jobqueue.Waiting})
		case state == "busy":
			list = append(list, sink.Pending{JID: o.JID, State: jobqueue.Running})
		}
	}
	return list, nil
}

func withAcme(q sink.Submitter) func(*scheduler.Config) {
	return func(c *scheduler.Config) { c.Submitters = periodic.Submitters{"acme": q} }
}

func (f *fixture) acme() *acme {
	f.exec("CREATE TABLE acme_job (ref varchar(254) PRIMARY KEY, task varchar(254), args text, tracker varchar(254), state varchar(20))")
	return &acme{refuse: map[string]sink.Submission{}}
}

// addAcme adds a task for that queue that is due.
func (f *fixture) addAcme(id, overlap string) {
	f.exec("INSERT INTO periodic_task (id, task, timer, sink, overlap, args) VALUES (?, ?, 'yearly', 'acme', ?, ?)", id, id, overlap, `{"n":"`+id+`"}`)
}

func (f *fixture) plan(q sink.Submitter) { f.once(withAcme(q)) }

// tick makes a task due a number of seconds ago, and runs a scheduler once.
func (f *fixture) tick(id string, ago int, change ...func(*scheduler.Config)) {
	f.Helper()
	f.due(id, time.Duration(ago)*time.Second)
	f.once(change...)
}

// planned adds one task for that queue, with the id a, and plans it.
func (f *fixture) planned(q sink.Submitter, overlap string) {
	f.Helper()
	f.addAcme("a", overlap)
	f.plan(q)
}

const (
	acmeJobs = "SELECT count(*) FROM acme_job WHERE tracker = ?"
	decision = "SELECT decision FROM periodic_tick WHERE task_id = ? ORDER BY due DESC LIMIT 1"
	reason   = "SELECT reason FROM periodic_tick WHERE task_id = ? ORDER BY due DESC LIMIT 1"
)

// ends runs a scheduler once, which must end within a while.
func (f *fixture) ends(change ...func(*scheduler.Config)) {
	f.Helper()
	s, _ := f.make(f.db.Periodic(), change...)
	ctx, cancel := context.WithTimeout(context.Background(), storetest.Patience)
	defer cancel()
	if _ = s.RunOnce(ctx); ctx.Err() != nil { // it may say what failed
		f.Errorf("RunOnce has not ended within %s", storetest.Patience)
	}
}
