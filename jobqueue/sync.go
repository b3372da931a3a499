package jobqueue

import (
	"cmp"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/jobqueue/backend"
)

// maxSyncLines and maxSyncBytes bound the lines of one transaction. The lines of
// one attempt always fit.
const (
	maxSyncLines = 4 * maxLines
	maxSyncBytes = 4 * maxLineBytes
)

// item is what a request has of one job: what its attempt has to say, or that it
// is to be claimed, or a transition of a job that is not in flight here.
type item struct {
	jid        string
	attempt    *attempt
	transition *backend.Transition
}

// ready lists the attempts that have something to write, but those that are set
// aside.
func (l *loop) ready() []item {
	var items []item
	for _, a := range l.attempts.byJID {
		if a.unwritten() && !l.aside.hasReport(a.job.JID) {
			items = append(items, item{jid: a.job.JID, attempt: a})
		}
	}
	return items
}

// sync writes what attempts have to say, and claims jobs.
func (l *loop) sync(now time.Time) error {
	if now.Before(l.agenda.hold) || l.gather.waits(now) {
		return nil
	}
	if err := l.giveBack(now); err != nil {
		return err
	}
	items := l.ready()
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.jid, b.jid) })
	items = items[:fitting(items)]
	var c backend.Claim
	if room := l.attempts.room(l.cfg.PoolSize); l.claims.looks > 0 && !l.stopping && room > 0 && !l.claims.at.After(now) {
		c = l.claims.request(l.cfg, room, l.aside.claims.Keys(), now)
	}
	return l.deliver(items, c, now)
}

// fitting is how many of the items fit into one transaction.
func fitting(items []item) int {
	lines, bytes := 0, 0
	for i, it := range items {
		lines += len(it.attempt.lines)
		for _, line := range it.attempt.lines {
			bytes += len(line.Message)
		}
		if i > 0 && (lines > maxSyncLines || bytes > maxSyncBytes) {
			return i
		}
	}
	return len(items)
}

// deliver syncs items and a claim. If that fails for a reason that may lie in one
// of the jobs, it gets the others done and sets that one aside.
func (l *loop) deliver(items []item, c backend.Claim, now time.Time) error {
	q := l.request(items, now)
	q.Claim = c
	chosen, err := l.send(q)
	if err == nil {
		return nil
	}
	claimOnly := c.Limit > 0 && len(items) == 0
	if l.e.store.Judge(err) == isolate.Database || claimOnly && len(chosen) == 0 {
		return err
	}
	if c.Limit > 0 && len(chosen) == 0 { // the claim may be to blame, as a whole
		if err := l.deliver(items, backend.Claim{}, now); err != nil {
			return err
		}
		return l.deliver(nil, c, now)
	}
	for _, jid := range chosen {
		items = append(items, item{jid: jid})
	}
	return l.isolate(items, err)
}

// request says what is to be done for the items.
func (l *loop) request(items []item, now time.Time) backend.Request {
	q := backend.Request{Worker: l.e.worker}
	for _, it := range items {
		switch a := it.attempt; {
		case it.transition != nil:
			q.Transitions = append(q.Transitions, *it.transition)
		case a == nil:
			q.Claim.Only = append(q.Claim.Only, it.jid)
		default:
			for _, line := range a.lines {
				line.Age = now.Sub(line.at)
				q.Lines = append(q.Lines, line.Line)
			}
			if a.phase == ending {
				q.Transitions = append(q.Transitions, a.end)
			} else if a.percent >= 0 {
				q.Progress = append(q.Progress, backend.Progress{JID: it.jid, Percent: a.percent})
			}
		}
	}
	if only := q.Claim.Only; len(only) > 0 {
		q.Claim = l.claims.request(l.cfg, len(only), nil, now)
		q.Claim.Only = only
	}
	return q
}

// send carries a request out and takes in the result. If it fails, chosen are the
// jobs that it tried to claim.
func (l *loop) send(q backend.Request) (chosen []string, err error) {
	if q.Empty() {
		return nil, nil
	}
	asked := time.Now()
	result, err := l.e.store.Sync(l.hard, q)
	if err != nil {
		if q.Claim.Limit > 0 && l.e.store.Judge(err) == isolate.Database {
			l.claims.replyLost = true
		}
		return result.Chosen, err
	}
	l.wrote(q)
	for _, jid := range result.Done {
		if a := l.attempts.byJID[jid]; a != nil {
			l.settle(a)
		} else {
			delete(l.suspects, jid)
			l.aside.overdue.Release(jid)
		}
	}
	for _, s := range result.Missed {
		if a := l.attempts.byJID[s.JID]; a != nil && l.apply(a, s) == keep {
			l.setAside(item{jid: s.JID, attempt: a}, isolate.Row, errUnchanged)
		}
	}
	if q.Claim.Limit > 0 {
		l.claims.answered(q.Claim, result, asked)
		l.claimed(q.Claim, result, asked)
	}
	return nil, nil
}

// wrote drops what was written from the attempts.
func (l *loop) wrote(q backend.Request) {
	done := map[string]bool{}
	write := func(jid string) {
		if a := l.attempts.byJID[jid]; a != nil && !done[jid] {
			done[jid] = true
			a.written()
			if a.phase == running {
				l.aside.release(jid)
			}
		}
	}
	for _, line := range q.Lines {
		write(line.JID)
	}
	for _, p := range q.Progress {
		write(p.JID)
	}
}

// claimed begins new jobs.
func (l *loop) claimed(c backend.Claim, result backend.Result, asked time.Time) {
	for _, jid := range c.Only {
		if !slices.Contains(result.Chosen, jid) { // it moved on
			l.aside.release(jid)
		}
	}
	got := map[string]bool{}
	var begun []Job
	for _, job := range result.Claimed {
		got[job.JID] = true
		l.aside.release(job.JID)
		if job.State == Running {
			begun = append(begun, job)
		}
	}
	if len(got) > 0 {
		l.emit(Event{Kind: EventClaimed, Count: len(got)})
	}
	l.gather.begun(len(begun), time.Since(asked))
	if len(begun) > 1 {
		l.e.inbox.expect(len(begun))
	}
	for _, job := range begun {
		l.begin(job, asked)
	}
	for _, job := range result.Claimed {
		if job.State != Running {
			l.emit(Event{Kind: EventEnded, Job: job, State: job.State})
		}
	}
	for _, jid := range result.Chosen {
		if !got[jid] {
			l.setAside(item{jid: jid}, isolate.Row, errUnchanged)
		}
	}
}

// giveBack returns the jobs of a claim whose reply was lost. If that fails for a
// reason that lies in one of them, they are taken back when their lease ends.
func (l *loop) giveBack(now time.Time) error {
	if !l.claims.replyLost {
		return nil
	}
	_, err := l.send(backend.Request{Worker: l.e.worker, ReplyLost: true, InFlight: l.attempts.jids()})
	if err != nil && l.e.store.Judge(err) == isolate.Database {
		return err
	}
	if err != nil {
		l.emit(Event{Kind: EventTrouble, Err: err, Duration: l.cfg.Lease})
	}
	l.claims.replyLost = false
	return nil
}
