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
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store"
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

// acmeTeller is an acme that tells how its jobs end: the state of a job that has ended is a
// [sink.EndState].
type acmeTeller struct {
	*acme
	gone sink.EndState
	deaf func() error // nil: it answers

	unreadable string // the id of a job that the database refuses to read
}

func (q *acmeTeller) Gone() sink.EndState { return q.gone }

func (q *acmeTeller) Ends(ctx context.Context, tx jobqueue.DBTX, open []sink.Open) (ends []sink.JobEnd, err error) {
	if q.deaf != nil {
		if err := q.deaf(); err != nil {
			return nil, err
		}
	}
	for _, o := range open {
		if o.JID == q.unreadable {
			return nil, fmt.Errorf("%w: invalid input syntax", store.ErrRefused)
		}
		var state string
		if err := tx.QueryRowContext(ctx, fmt.Sprintf(`SELECT coalesce(max(state), '') FROM acme_job WHERE ref = '%s'`, o.Ref)).Scan(&state); err != nil {
			return nil, err
		}
		e := sink.JobEnd{JID: o.JID, Attempts: 2, Error: "no\n\tspace\x00 left", Finished: o.Submitted.Add(time.Second)}
		switch state {
		case "":
			continue
		case "success":
			e.Error = ""
		}
		if state != "new" && state != "busy" {
			e.State = sink.EndState(state)
		}
		ends = append(ends, e)
	}
	return ends, nil
}

// endHooks remember the ends that they hear of.
type endHooks struct {
	mu   sync.Mutex
	told []string
}

func (h *endHooks) HearsMissed(*periodic.Task) bool { return false }
func (h *endHooks) TellMissed(context.Context, jobqueue.DBTX, time.Time, []batch.MissedTick) error {
	return nil
}

func (h *endHooks) TellPaused(context.Context, jobqueue.DBTX, time.Time, batch.PausedTask) error {
	return nil
}

func (h *endHooks) HearsEnd(t *periodic.Task, k periodic.Tick) bool {
	return t.Task == t.ID && k.Ended != sink.EndCancelled
}

func (h *endHooks) TellEnds(_ context.Context, _ jobqueue.DBTX, _ time.Time, ticks []batch.EndedTick) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range ticks {
		h.told = append(h.told, fmt.Sprintf("%s %s %s", e.Task.ID, e.Tick.Ended, e.Tick.Error))
	}
	return nil
}

// submitted are tasks for a queue, each with a job that was submitted some seconds ago.
func (f *fixture) submitted(q sink.Submitter, ids ...string) {
	f.Helper()
	for _, id := range ids {
		f.addAcme(id, "allow")
	}
	f.plan(q)
	for _, id := range ids {
		f.due(id, 5*time.Second)
	}
	f.once(withAcme(q))
	f.exec("UPDATE periodic_open SET look = '2026-01-01 00:00:00.000000'")
}

// asks asks the queue for ends, as a scheduler does.
func (f *fixture) asks(q sink.Submitter, hooks batch.Hooks) batch.Ends {
	f.Helper()
	ends, err := f.db.Periodic().AskEnds(f.Context(), f.question(q, hooks))
	f.done(err)
	return ends
}

func (f *fixture) question(q sink.Submitter, hooks batch.Hooks) batch.AskEnds {
	return batch.AskEnds{Sink: "acme", Queue: q, Hooks: hooks, Limit: 1000, Timeout: time.Minute}
}
