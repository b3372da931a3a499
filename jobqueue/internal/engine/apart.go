package engine

import (
	"cmp"
	"time"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

// leastApart is how many reports there are, and how many jobs are wanted, at least, for two
// requests at the same time. With fewer, one more commit costs more than it saves.
const leastApart = 20

// concurrent is a store that gains by two requests at the same time.
type concurrent interface{ Concurrent() bool }

// apart reports whether to send reports and a claim as two requests at the same time. A
// claim with limits has to see which jobs have ended, so it goes with their reports.
func (l *loop) apart(items []item, c backend.Claim) bool {
	if len(items) < leastApart || c.Limit < leastApart || l.claims.limited || len(c.Most) > 0 || l.e.cfg.Hooks != nil {
		return false
	}
	s, ok := l.e.store.(concurrent)
	return ok && s.Concurrent()
}

// deliverApart is deliver with two requests. Each is complete in itself, and fenced like
// one that is alone.
func (l *loop) deliverApart(items []item, c backend.Claim, now time.Time) error {
	claim := make(chan answer, 1)
	go func() { claim <- l.ask(backend.Request{Worker: l.e.worker, Claim: c}) }()
	reported := l.ask(request(l.e.worker, items, now))
	claimed := <-claim
	// In this order: the claim may have got jobs that the reports have put back.
	chosen, err1 := l.apply(reported)
	err1 = l.delivered(items, backend.Claim{}, chosen, err1, now)
	chosen, err2 := l.apply(claimed)
	err2 = l.delivered(nil, c, chosen, err2, now)
	l.claims.ended() // the claim may not have seen that the jobs have
	return cmp.Or(err1, err2)
}
