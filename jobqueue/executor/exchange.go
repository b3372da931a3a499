package executor

// This file is how the loop talks with the database:
//
//	send     ---> handleAnswer, when it has arrived ---+---> applyResult; handleFailure
//	exchange ---> roundTrip ---------------------------+
//
// A sync sends its request and goes on; the answer comes to the next turn of the loop, and no sync is sent
// before. A rescue, a search and what is tried alone wait for their answer.

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// answer is what the database says to a request.
type answer struct {
	to     exchange.Request
	items  []item // that it is for
	asked  time.Time
	result exchange.Result
	err    error
}

// ask carries out a request. It touches nothing of the loop.
func (l *loop) ask(items []item, q exchange.Request, now time.Time) answer {
	a := answer{to: q, items: items, asked: now}
	q.Hooks = l.e.cfg.Hooks
	most := giveUpAfter
	if len(q.Transitions) == 0 {
		most = claimWithin
	}
	ctx, end := service.Finishing(l.soft, l.hard, most)
	defer end()
	a.result, a.err = l.e.store.Sync(ctx, q)
	return a
}

// exchange sends items and a claim, and waits for the answer. If that fails and a job may be to
// blame, it sends the other jobs and sets that one aside.
func (l *loop) exchange(items []item, c exchange.Claim, now time.Time) error {
	q := requestFor(l.e.worker, items, now)
	q.Claim = c
	chosen, err := l.roundTrip(items, q)
	return l.handleFailure(items, c, chosen, err, now)
}

// roundTrip sends a request for items, waits for the answer and applies it. If it fails, chosen are the jobs
// that it tried to claim.
func (l *loop) roundTrip(items []item, q exchange.Request) (chosen []string, err error) {
	if only := q.Claim.Only; len(only) > 0 {
		q.Claim = l.claims.compose(l.e.cfg, len(only), time.Now())
		q.Claim.Only = only
	}
	if q.Empty() {
		return nil, nil
	}
	return l.applyResult(l.ask(items, q, time.Now()))
}

// send sends the request of a sync, and does not wait for its answer.
func (l *loop) send(items []item, c exchange.Claim, now time.Time) {
	q := requestFor(l.e.worker, items, now)
	q.Claim = c
	if q.Empty() {
		return
	}
	l.sent = true
	asked := time.Now() // what happens from now on, it does not see
	go func() { l.answers <- l.ask(items, q, asked) }()
}

// handleAnswer applies the answer to a sync. If it failed and a job may be to blame, the other jobs are sent
// again, and that one is set aside.
func (l *loop) handleAnswer(a answer) error {
	l.sent = false
	l.answered = l.answered || a.err == nil
	items := slices.DeleteFunc(slices.Clone(a.items), func(it item) bool { return l.flight.byJID[it.jid] != it.attempt })
	chosen, err := l.applyResult(a)
	return l.handleFailure(items, a.to.Claim, chosen, err, time.Now())
}

// handleFailure goes on after a request for items and a claim has failed, which had chosen jobs.
func (l *loop) handleFailure(items []item, c exchange.Claim, chosen []string, err error, now time.Time) error {
	if err == nil {
		return nil
	}
	if l.e.store.Fault(err) == service.FaultDatabase {
		return err
	}
	if c.Limit > 0 && len(chosen) == 0 { // either an item failed, or the claim did before it chose a job
		if len(items) == 0 {
			return err
		}
		if err := l.exchange(items, exchange.Claim{}, now); err != nil {
			return err
		}
		return l.exchange(nil, c, now)
	}
	for _, jid := range chosen {
		items = append(items, claimOf(jid))
	}
	return l.inParts(items, err)
}

// applyResult applies an answer. If the request failed, chosen are the jobs that it tried to claim.
func (l *loop) applyResult(r answer) (chosen []string, err error) {
	q, asked, result, err := r.to, r.asked, r.result, r.err
	if err != nil {
		if q.Claim.Limit > 0 && l.e.store.Fault(err) == service.FaultDatabase {
			l.claims.compare = true
		}
		return result.Chosen, err
	}
	for _, it := range r.items {
		a := it.attempt
		if a == nil || l.flight.byJID[it.jid] != a {
			continue
		}
		if a.dropWritten(it.lines, it.percent); a.phase == running {
			l.aside.release(it.jid)
		}
	}
	for _, jid := range result.Done {
		t := q.Transitions[slices.IndexFunc(q.Transitions, func(t exchange.Transition) bool { return t.JID == jid })]
		switch a := l.flight.byJID[jid]; {
		case a != nil && t.Worker == l.e.worker:
			l.flight.recorded(a)
		case a != nil: // this process has slept, and the job was another worker's meanwhile
			l.flight.lose(a)
			fallthrough
		default:
			l.rescued(t)
		}
	}
	for _, s := range result.Missed {
		if a := l.flight.byJID[s.JID]; a != nil && l.flight.applyStatus(a, s) == keep {
			_ = l.setAside(reportOf(a), errUnchanged)
		}
	}
	for _, s := range result.Compared {
		if a := l.flight.byJID[s.JID]; a != nil {
			l.flight.applyStatus(a, s)
		}
	}
	if q.Claim.Limit > 0 {
		l.claims.planNext(q.Claim, result, asked)
		if result.Later > 0 {
			l.agenda.sooner(rescueOverdue, asked.Add(result.Later))
		}
		l.applyClaim(q.Claim, result)
	}
	return nil, nil
}
