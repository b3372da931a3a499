package executor

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/jobqueue"
)

// sync writes the reports of attempts, and claims jobs.
func (l *loop) sync(now time.Time) error {
	if err := l.absorb(); err != nil || l.gather.waits(now) {
		return err
	}
	if err := l.giveBack(); err != nil {
		return err
	}
	l.lanes.round++
	l.lanes.fresh = 0
	items := l.flight.ready()
	items = items[:fitting(items)]
	if i := slices.IndexFunc(items, l.lanes.suspect); i >= 0 {
		items = items[i : i+1]
	}
	var c jobdb.Claim
	if room := l.flight.room(); room > 0 && l.claims.due(now) && l.lanes.mayClaim(&l.claims) {
		c = l.claims.request(l.e.cfg, room, now)
		c.Except = l.aside.Keys(claiming)
		if l.lanes.claims > 0 {
			c.Name = "" // another request writes the group
		}
	}
	if !l.lanes.apart(items, c, l.claims.limited, l.e.cfg.Hooks != nil) {
		l.begin(items, c, now)
		return l.await()
	}
	l.begin(items, jobdb.Claim{}, now)
	l.begin(nil, c, now)
	err := l.await()
	l.claims.ended() // the claim may not have seen that the jobs have
	return err
}

// deliver syncs items and a claim. If that fails and a job may be to blame, it syncs
// the other jobs and sets that one aside.
func (l *loop) deliver(items []item, c jobdb.Claim, now time.Time) error {
	q := request(l.e.worker, items, now)
	q.Claim = c
	chosen, err := l.send(q)
	return l.delivered(items, c, chosen, err, now)
}

// delivered goes on after items and a claim were sent, and a claim has chosen jobs.
func (l *loop) delivered(items []item, c jobdb.Claim, chosen []string, err error, now time.Time) error {
	if err == nil {
		return nil
	}
	if l.e.store.Judge(err) == isolate.Database {
		return err
	}
	if c.Limit > 0 && len(chosen) == 0 { // either an item failed, or the claim before it chose a job
		if len(items) == 0 {
			return err
		}
		if err := l.deliver(items, jobdb.Claim{}, now); err != nil {
			return err
		}
		return l.deliver(nil, c, now)
	}
	for _, jid := range chosen {
		items = append(items, item{jid: jid})
	}
	return l.isolate(items, err)
}

// send carries out a request and applies the result. If it fails, chosen are the
// jobs that it tried to claim.
func (l *loop) send(q jobdb.Request) (chosen []string, err error) {
	if only := q.Claim.Only; len(only) > 0 {
		q.Claim = l.claims.request(l.e.cfg, len(only), time.Now())
		q.Claim.Only = only
	}
	if q.Empty() {
		return nil, nil
	}
	return l.apply(l.ask(q))
}

// answer is what the database says to a request.
type answer struct {
	to     jobdb.Request
	items  []item // that it reports; nil: nobody waits in a lane
	round  int
	asked  time.Time
	result jobdb.Result
	err    error
}

// ask carries out a request. It touches nothing of the loop.
func (l *loop) ask(q jobdb.Request) answer {
	a := answer{to: q, asked: time.Now()}
	q.Hooks = l.e.cfg.Hooks
	a.result, a.err = l.e.store.Sync(l.hard, q)
	return a
}

// apply applies an answer. If the request failed, chosen are the jobs that it tried to
// claim.
func (l *loop) apply(r answer) (chosen []string, err error) {
	q, asked, result, err := r.to, r.asked, r.result, r.err
	if err != nil {
		if q.Claim.Limit > 0 && l.e.store.Judge(err) == isolate.Database {
			l.claims.replyLost = true
		}
		return result.Chosen, err
	}
	crashpoint.At("executor/committed")
	for _, a := range l.flight.wrote(q) {
		l.aside.Release(a.job.JID)
	}
	for _, jid := range result.Done {
		if a := l.flight.byJID[jid]; a != nil {
			l.flight.settle(a)
		} else {
			delete(l.recovery.suspects, jid)
			l.aside.Release(jid)
		}
	}
	for _, s := range result.Missed {
		if a := l.flight.byJID[s.JID]; a != nil && l.flight.apply(a, s) == keep {
			l.setAside([]item{{jid: s.JID, attempt: a}}, isolate.Row, errUnchanged)
		}
	}
	if q.Claim.Limit > 0 {
		l.claims.answered(q.Claim, result, asked)
		if result.Later > 0 {
			l.agenda.sooner(lookOverdue, asked.Add(result.Later))
		}
		l.claimed(q.Claim, result, asked)
	}
	return nil, nil
}

// claimed begins new jobs.
func (l *loop) claimed(c jobdb.Claim, result jobdb.Result, asked time.Time) {
	for _, jid := range c.Only {
		if !slices.Contains(result.Chosen, jid) { // it moved on
			l.aside.Release(jid)
		}
	}
	got := map[string]bool{}
	var begun []jobqueue.Job
	for _, job := range result.Claimed {
		if !job.State.Final() && job.State != jobqueue.Running { // a trigger has put it back: it would be claimed again and again
			continue
		}
		got[job.JID] = true
		l.aside.Release(job.JID)
		if job.State == jobqueue.Running {
			begun = append(begun, job)
		}
	}
	if l.flight.closed && len(begun) > 0 { // the answer came late: they go back
		l.claims.replyLost, begun = true, nil
	}
	if len(got) > 0 {
		l.e.observer.Claimed(len(got))
	}
	if f := &l.flight; len(c.Only) == 0 {
		f.prefetch.adapt(claimed{full: len(got) >= c.Limit, short: l.gather.short(), running: len(f.places), waiting: f.waiting(), asked: asked}, time.Now())
	}
	l.gather.begun(len(begun), time.Since(asked))
	if len(begun) > 1 {
		l.e.inbox.expect(len(begun))
	}
	l.flight.beginAll(begun, l.gather.round, asked)
	if len(begun) > 0 {
		crashpoint.At("executor/begun")
	}
	for _, job := range result.Claimed {
		if job.State.Final() {
			l.e.observer.Ended(job, 0, job.State, 0, nil)
		}
	}
	for _, jid := range result.Chosen {
		if !got[jid] {
			l.setAside([]item{{jid: jid}}, isolate.Row, errUnchanged)
		}
	}
}

// giveBack returns the jobs of a claim whose reply was lost. If it fails because of
// one of these jobs, they are taken back when their lease ends.
func (l *loop) giveBack() error {
	if !l.claims.replyLost || l.lanes.claims > 0 { // a claim without an answer may have got jobs, too
		return nil
	}
	_, err := l.send(jobdb.Request{Worker: l.e.worker, ReplyLost: true, InFlight: l.flight.jids()})
	if err != nil && l.e.store.Judge(err) == isolate.Database {
		return err
	}
	if err != nil {
		l.e.observer.Trouble(err, l.e.cfg.Lease)
	}
	l.claims.replyLost = false
	return nil
}
