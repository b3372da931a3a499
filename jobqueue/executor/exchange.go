package executor

// This file is how the loop talks with the database:
//
//	sendAsync ---> awaitAnswers, handleArrived ---> handleAnswer ---+---> applyResult; handleFailure
//	exchange  ---> roundTrip ---------------------------------------+
//
// A sync sends one or two requests by sendAsync; a slow one is answered in a later sync. A rescue, a
// search and what is tried alone wait for their answer.

import (
	"cmp"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/jobqueue"
)

// answer is what the database says to a request.
type answer struct {
	to     jobdb.Request
	items  []item // whose reports it writes; nil unless sendAsync has sent it
	sync   int    // which sync has sent it
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

// exchange sends items and a claim, and waits for the answer. If that fails and a job may be to
// blame, it sends the other jobs and sets that one aside.
func (l *loop) exchange(items []item, c jobdb.Claim, now time.Time) error {
	q := requestFor(l.e.worker, items, now)
	q.Claim = c
	chosen, err := l.roundTrip(q)
	return l.handleFailure(items, c, chosen, err, now)
}

// roundTrip sends a request, waits for the answer and applies it. If it fails, chosen are the jobs
// that it tried to claim.
func (l *loop) roundTrip(q jobdb.Request) (chosen []string, err error) {
	if only := q.Claim.Only; len(only) > 0 {
		q.Claim = l.claims.compose(l.e.cfg, len(only), time.Now())
		q.Claim.Only = only
	}
	if q.Empty() {
		return nil, nil
	}
	return l.applyResult(l.ask(q))
}

// sendAsync sends a request of the newest sync, and does not wait for its answer.
func (l *loop) sendAsync(items []item, c jobdb.Claim, now time.Time) {
	q := requestFor(l.e.worker, items, now)
	q.Claim = c
	if q.Empty() {
		return
	}
	for _, it := range items {
		it.attempt.sent = true
	}
	l.lanes.open++
	l.lanes.ofNewest++
	if c.Limit > 0 {
		l.lanes.claims++
		l.flight.reserved += c.Limit
	}
	sync := l.lanes.newest
	go func() {
		a := l.ask(q)
		a.items, a.sync = items, sync
		l.lanes.answers <- a
	}()
}

// awaitAnswers handles answers until the newest sync has all of its own, or the database has taken
// long. It goes on without a time limit if there is no lane for another sync.
func (l *loop) awaitAnswers() error {
	timer := time.NewTimer(laneAfter)
	defer timer.Stop()
	for l.lanes.ofNewest > 0 {
		patience := timer.C
		if l.lanes.full() || !l.lanes.parallel {
			patience = nil
		}
		select {
		case a := <-l.lanes.answers:
			if err := l.handleAnswer(a); err != nil {
				return err
			}
		case <-patience:
			return nil
		}
	}
	return nil
}

// handleArrived handles the answers that have arrived.
func (l *loop) handleArrived() error {
	for {
		select {
		case a := <-l.lanes.answers:
			if err := l.handleAnswer(a); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// handleAnswer applies the answer to a request that sendAsync has sent. If the request failed and a
// job may be to blame, it sends the other jobs and sets that one aside.
func (l *loop) handleAnswer(a answer) error {
	c := a.to.Claim
	l.lanes.answered = l.lanes.answered || a.err == nil
	if l.lanes.open--; c.Limit > 0 {
		l.lanes.claims--
		l.flight.reserved -= c.Limit
	}
	if a.sync == l.lanes.newest {
		l.lanes.ofNewest--
	}
	for _, it := range a.items {
		it.attempt.sent = false
	}
	before := l.handleReportsOf(a.result.Claimed)
	items := slices.DeleteFunc(slices.Clone(a.items), func(it item) bool { return l.flight.byJID[it.jid] != it.attempt })
	chosen, err := l.applyResult(a)
	if job, took := l.lanes.findSlow(a, time.Now()); job != nil {
		l.e.emit(Event{Kind: EventSlow, Job: *job, Duration: took})
	}
	return cmp.Or(before, l.handleFailure(items, c, chosen, err, time.Now()))
}

// handleReportsOf handles the open answers about jobs that a claim has got again: a report let them
// wait again, and the answer to it is still to come.
func (l *loop) handleReportsOf(claimed []jobqueue.Job) (err error) {
	for _, job := range claimed {
		for old := l.flight.byJID[job.JID]; old != nil && old.sent; {
			err = cmp.Or(err, l.handleAnswer(<-l.lanes.answers))
		}
	}
	return err
}

// handleFailure goes on after a request for items and a claim has failed, which had chosen jobs.
func (l *loop) handleFailure(items []item, c jobdb.Claim, chosen []string, err error, now time.Time) error {
	if err == nil {
		return nil
	}
	if l.e.store.Judge(err) == isolate.Database {
		return err
	}
	if c.Limit > 0 && len(chosen) == 0 { // either an item failed, or the claim did before it chose a job
		if len(items) == 0 {
			return err
		}
		if err := l.exchange(items, jobdb.Claim{}, now); err != nil {
			return err
		}
		return l.exchange(nil, c, now)
	}
	for _, jid := range chosen {
		items = append(items, claimOf(jid))
	}
	return l.isolate(items, err)
}

// applyResult applies an answer. If the request failed, chosen are the jobs that it tried to claim.
func (l *loop) applyResult(r answer) (chosen []string, err error) {
	q, asked, result, err := r.to, r.asked, r.result, r.err
	if err != nil {
		if q.Claim.Limit > 0 && l.e.store.Judge(err) == isolate.Database {
			l.claims.replyLost = true
		}
		return result.Chosen, err
	}
	crashpoint.At("executor/committed")
	for _, a := range l.flight.dropWritten(q) {
		l.aside.Release(a.job.JID)
	}
	for _, jid := range result.Done {
		if a := l.flight.byJID[jid]; a != nil {
			l.flight.recorded(a)
		} else {
			delete(l.rescues.suspects, jid)
			l.aside.Release(jid)
		}
	}
	for _, s := range result.Missed {
		if a := l.flight.byJID[s.JID]; a != nil && l.flight.applyStatus(a, s) == keep {
			l.setAside([]item{reportOf(a)}, isolate.Row, errUnchanged)
		}
	}
	if q.Claim.Limit > 0 {
		l.claims.planNext(q.Claim, result, asked)
		if result.Later > 0 {
			l.agenda.sooner(rescueOverdue, asked.Add(result.Later))
		}
		l.applyClaim(q.Claim, result, asked)
	}
	return nil, nil
}
