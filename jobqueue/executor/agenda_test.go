package executor

import (
	"testing"
	"time"
)

func TestAgenda(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	in := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	var g agenda
	if got := g.next(now); !got.Equal(in(3600)) || g.due(claim, now) {
		t.Errorf("nothing is planned: next %s", got)
	}
	g.set(renew, in(10))
	g.sooner(renew, in(20))
	g.sooner(claim, in(5))
	g.notBefore(claim, in(7))
	g.notBefore(report, in(7)) // it is not planned
	if got := g.next(now); !got.Equal(in(7)) || g.due(claim, in(6)) || !g.due(claim, in(7)) || g.planned(report) {
		t.Errorf("next %s", got)
	}
	// While the database has trouble, only what does not need it goes on.
	g.downUntil = in(30)
	g.set(endGrace, in(20))
	if got := g.next(now); !got.Equal(in(20)) || g.due(claim, in(29)) || !g.due(claim, in(30)) || !g.due(renew, in(30)) {
		t.Errorf("next %s", got)
	}
	g.clear(endGrace)
	if got := g.next(now); !got.Equal(in(30)) {
		t.Errorf("next %s", got)
	}
}
