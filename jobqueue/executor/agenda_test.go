package executor

import (
	"testing"
	"time"
)

func TestAgenda(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	in := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	var g agenda
	if got := g.next(now); !got.Equal(in(3600)) || g.due(wakeToClaim, now) {
		t.Errorf("nothing is planned: next %s", got)
	}
	g.set(compareJobs, in(10))
	g.sooner(compareJobs, in(20))
	g.sooner(wakeToClaim, in(5))
	if got := g.next(now); !got.Equal(in(5)) || g.due(wakeToClaim, in(4)) || !g.due(wakeToClaim, in(5)) || g.planned(syncReports) {
		t.Errorf("next %s", got)
	}
	// While the database has trouble, only what does not need it goes on.
	g.downUntil = in(30)
	g.set(cancelRunning, in(20))
	if got := g.next(now); !got.Equal(in(20)) || g.due(wakeToClaim, in(29)) || !g.due(wakeToClaim, in(30)) || !g.due(compareJobs, in(30)) {
		t.Errorf("next %s", got)
	}
	g.clear(cancelRunning)
	if got := g.next(now); !got.Equal(in(30)) {
		t.Errorf("next %s", got)
	}
}
