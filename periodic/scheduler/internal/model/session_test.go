package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/sink"
)

// A session runs the real code of package batch on a transaction of the model. That code
// runs from the beginning at each step: calls that it has made before get the answer that
// they got then, the next one reaches the tables, and the one after that stops it. So other
// processes can act between any two statements.
type session struct {
	batch.Tx // what a batch does not use

	w    *world
	i    *instance
	t    *txn
	most int // calls that may reach the tables
	next int // call
	real []string
	err  error
}

// errStop stops the real code after its step.
var errStop = errors.New("to be continued")

// call returns the answer to a call that was made before, or makes it.
func call[T any](s *session, name string, do func() (T, error)) (T, error) {
	if s.next < len(s.t.calls) {
		a := s.t.calls[s.next]
		if s.next++; a.call != name {
			panic(fmt.Sprintf("the code is not deterministic: it called %s and now %s", a.call, name))
		}
		return a.value.(T), nil
	}
	var none T
	if s.most == 0 && !s.local(name) {
		s.err = errStop
		return none, errStop
	}
	value, err := do()
	if err != nil {
		s.err = err
		return none, err
	}
	s.t.calls = append(s.t.calls, answer{name, value})
	s.next++
	if !s.local(name) {
		s.most--
	}
	return value, nil
}

// local reports whether a statement touches only what the transaction has locked already, so
// that nobody could notice whether something happens before it.
func (s *session) local(name string) bool {
	return name == "record" && !s.w.off(rowLock) && !s.w.off(tickKey)
}

type sessionKey struct{}

// committer is the real one. Its transactions are those of the session in the context.
var committer = batch.New("", func(ctx context.Context, _ time.Duration, fn func(batch.Tx) error) error {
	s := ctx.Value(sessionKey{}).(*session)
	if s.t.fence != 0 {
		_, err := call(s, "guard", func() (bool, error) { return true, s.w.guard(s.i, s.t) })
		if err != nil {
			return err
		}
	}
	return fn(s)
}, func(ctx context.Context, fn func(batch.Tx) error) error {
	return fn(ctx.Value(sessionKey{}).(*session))
}, map[periodic.Sink]periodic.Queue{periodic.SinkJob: queue{}, otherSink: queue{other: true}})

// otherSink is a queue that is not nextrun's own.
const otherSink periodic.Sink = "other"

// names returns the model's names for jobs, which the real code names at random. Their order
// is that of their appearance.
func (s *session) name(jid, id string, due time.Time) string {
	if len(jid) != len(jobqueue.NewID()) {
		return jid
	}
	n := slices.Index(s.real, jid)
	if n < 0 {
		s.real = append(s.real, jid)
		n = len(s.real) - 1
	}
	if n == len(s.t.jids) {
		s.t.jids = append(s.t.jids, s.w.newJob(id, due))
	}
	return s.t.jids[n]
}

// newJob names a job by its task, its tick and how many of these there are.
func (w *world) newJob(id string, due time.Time) string {
	n := 1
	count := func(name string) {
		if name == fmt.Sprintf("%s of %s/%d", id, clock(due), n) {
			n++
		}
	}
	for _, j := range w.jobs {
		count(j.id)
	}
	for _, t := range w.transactions(nil) {
		for _, jid := range t.jids {
			count(jid)
		}
	}
	return fmt.Sprintf("%s of %s/%d", id, clock(due), n)
}

// named gives ticks the model's names for jobs.
func (s *session) named(ticks []periodic.Tick) []periodic.Tick {
	list := slices.Clone(ticks)
	for i := range list {
		if list[i].JID != "" {
			list[i].JID = s.name(list[i].JID, list[i].TaskID, list[i].Due)
		}
	}
	return list
}

// Now, DBTX and the other methods implement batch.Tx.
func (s *session) Now() time.Time {
	if s.w.off(early) && s.t.kind == submit {
		return s.i.held.batch.ReadyAt()
	}
	return s.t.now
}

func (s *session) DBTX() jobqueue.DBTX { return nil }

func (s *session) Tasks(_ context.Context, w batch.Wanted) ([]periodic.Task, error) {
	return call(s, "tasks", func() ([]periodic.Task, error) { return s.w.read(s.t, w), nil })
}

func (s *session) Ticks(_ context.Context, since []periodic.TickKey) (map[string][]periodic.Range, error) {
	return call(s, "ticks", func() (map[string][]periodic.Range, error) { return s.w.decided(s.t, since), nil })
}

func (s *session) Ended(_ context.Context, ids []string) (map[string]time.Time, error) {
	return call(s, "ended", func() (map[string]time.Time, error) { return s.w.ended(ids), nil })
}

func (s *session) Advance(_ context.Context, plans []periodic.Plan) ([]string, error) {
	return call(s, "advance", func() ([]string, error) { return s.w.advance(s.t, plans), nil })
}

func (s *session) Record(_ context.Context, settled, added []periodic.Tick) ([]periodic.TickKey, error) {
	settled, added = s.named(settled), s.named(added)
	return call(s, "record", func() ([]periodic.TickKey, error) { return s.w.record(s.t, settled, added) })
}

// SubmitPlain is for a scheduler that has only nextrun's own queue: with others, the table job
// is one of several.
func (s *session) SubmitPlain(_ context.Context, _ periodic.Queue, plans []periodic.Plan) (left []string, can bool, err error) {
	if s.w.sqlite || s.i.others {
		return nil, false, nil
	}
	var ticks []periodic.Tick
	var jobs []jobqueue.Job
	for _, p := range plans {
		ticks = append(ticks, s.named(p.Ticks)...)
		jobs = append(jobs, p.Task.Job(ticks[len(ticks)-1].JID, p.Ticks[0].Due, s.Now()))
	}
	a, err := call(s, "plain", func() (plainAnswer, error) { return s.w.submitPlain(s.t, plans, ticks, jobs) })
	if a.inTheWay {
		err = batch.ErrInTheWay
	}
	return a.left, true, err
}

func (s *session) Args(_ context.Context, ids []string, _ int) (map[string]string, error) {
	args := map[string]string{}
	for _, id := range ids {
		args[id] = ""
	}
	return args, nil
}

func (s *session) SetProblem(context.Context, string, string) error { return nil }

// queue is a queue of the model: the table job, or one that is not nextrun's own.
type queue struct {
	periodic.Queue // what a batch does not use
	other          bool
}

func (queue) CopiesArgs() bool { return true }

func (q queue) Cancels() bool { return !q.other }

func (q queue) Pending(ctx context.Context, _ jobqueue.DBTX, ids []string) (map[string]sink.Pending, error) {
	s := ctx.Value(sessionKey{}).(*session)
	return call(s, "pending", func() (map[string]sink.Pending, error) {
		found := map[string]sink.Pending{}
		for _, id := range ids {
			if p, ok := s.w.pendingAnywhere(s.t, id); ok {
				found[id] = p
			}
		}
		return found, nil
	})
}

func (q queue) Submit(ctx context.Context, _ jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	s := ctx.Value(sessionKey{}).(*session)
	ours, names := slices.Clone(jobs), map[string]string{}
	for i := range ours {
		ours[i].JID = s.name(jobs[i].JID, jobs[i].Tracker, jobs[i].Due)
		names[ours[i].JID] = jobs[i].JID
	}
	refused, err := call(s, "submit", func() ([]sink.Submission, error) {
		if q.other {
			return s.w.submitOther(s.t, ours)
		}
		return s.w.submit(s.t, ours)
	})
	refused = slices.Clone(refused)
	for i := range refused {
		refused[i].JID = names[refused[i].JID]
	}
	return refused, err
}

func (q queue) Cancel(ctx context.Context, _ jobqueue.DBTX, tasks map[string]string, _ time.Time) ([]string, error) {
	s := ctx.Value(sessionKey{}).(*session)
	return call(s, "cancel", func() (done []string, err error) {
		for jid := range tasks {
			if s.w.cancel(s.t, jid) {
				done = append(done, jid)
			}
		}
		return done, nil
	})
}
