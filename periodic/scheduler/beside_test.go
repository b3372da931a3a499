package scheduler_test

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// G5 under way: ten tasks that cannot be scheduled, for whatever reason, beside
// 50 that are due every second. `make hostile` runs longer, with more of them.

const (
	healthyTasks  = 50
	badTasks      = 10
	besideSeconds = 4
)

// measuring bounds the tests that measure lateness at the same time.
var measuring = make(chan struct{}, 4)

// healthy adds the tasks that nothing may disturb.
func (f *fixture) healthy() {
	f.Helper()
	measuring <- struct{}{}
	f.Cleanup(func() { <-measuring })
	f.exec(`INSERT INTO periodic_task (id, task, timer, overlap)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT 'healthy-' || i, 'backup', '*:*:*', 'allow' FROM n`, healthyTasks)
}

// bad adds tasks with an overlap policy that are due every second, too.
func (f *fixture) bad(overlap string) {
	f.Helper()
	f.exec(`INSERT INTO periodic_task (id, task, timer, overlap)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT 'bad-' || i, 'backup', '*:*:*', '`+overlap+`' FROM n`, badTasks)
}

// lateness collects how late the ticks of the healthy tasks were, and which tasks
// and sinks were set aside.
type lateness struct {
	mu     sync.Mutex
	late   []time.Duration
	missed int
	aside  map[string]error
	sinks  []periodic.Sink
	news   chan struct{} // enough ticks, since the last sample
}

func (l *lateness) observe(e scheduler.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case e.Kind == scheduler.EventAside:
		l.aside[e.ID] = e.Err
	case e.Kind == scheduler.EventSink && e.Err != nil:
		l.sinks = append(l.sinks, e.Sink)
	case e.Kind != scheduler.EventTick || !strings.HasPrefix(e.Tick.TaskID, "healthy"):
	case e.Tick.Decision != periodic.Submitted:
		l.missed++
	default:
		if l.late = append(l.late, time.Since(e.Tick.Due)); len(l.late) == besideSeconds*healthyTasks {
			close(l.news)
		}
	}
}

// sample waits for ticks of the healthy tasks, and returns how late they were. If many of
// them were not submitted, they count as very late: without isolation it is half of them. A
// busy machine may miss a second; `make hostile` allows none.
func (l *lateness) sample(f *fixture) []time.Duration {
	l.mu.Lock()
	l.late, l.missed, l.news = nil, 0, make(chan struct{})
	news := l.news
	l.mu.Unlock()
	select {
	case <-news:
	case <-time.After(storetest.Patience):
		f.Fatal("the healthy tasks have not had their ticks")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missed > healthyTasks {
		f.Logf("%d ticks of healthy tasks were not submitted", l.missed)
		return []time.Duration{time.Hour}
	}
	return l.late
}

// onTime runs a scheduler until the healthy tasks were on time, and what else shall come
// before it stops has come. It must stop soon whatever is locked.
func (f *fixture) onTime(comes ...func(*lateness)) *lateness {
	f.Helper()
	l := &lateness{aside: map[string]error{}, news: make(chan struct{})}
	observed := func(c *scheduler.Config) { c.Observe = l.observe }
	s, _ := f.start(f.db.Periodic(), polls, observed)
	storetest.Punctual(f, "healthy tasks", func() []time.Duration { return l.sample(f) })
	for _, wait := range comes {
		wait(l)
	}
	storetest.Punctual(f, "stop", func() []time.Duration {
		begun := time.Now()
		f.stop(s)
		took := time.Since(begun)
		if took > storetest.MaxLateness {
			s, _ = f.start(f.db.Periodic(), polls, observed)
		}
		return []time.Duration{took}
	})
	f.stop(s)
	f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
	return l
}

func (l *lateness) sinkAside() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sinks) > 0
}

// found waits until a query finds all bad tasks.
func (f *fixture) found(query string) func(*lateness) {
	return func(*lateness) {
		f.Helper()
		storetest.Eventually(f, query, func() bool { return f.one(query) == strconv.Itoa(badTasks) })
	}
}

// named waits until all bad tasks are set aside, and fails unless the error says why. On
// a busy machine a healthy one may wait too long for a lock of the database's own.
func (f *fixture) named(why string) func(*lateness) {
	return func(l *lateness) {
		f.Helper()
		storetest.Eventually(f, "all bad tasks are set aside", func() bool { return l.bad(f, why) == badTasks })
	}
}

// bad is the number of bad tasks that were set aside.
func (l *lateness) bad(f *fixture, why string) (n int) {
	f.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, err := range l.aside {
		switch isBad := strings.HasPrefix(id, "bad-"); {
		case isBad && strings.Contains(err.Error(), why):
			n++
		case isBad || !strings.Contains(err.Error(), "lock timeout"):
			f.Fatalf("%s was set aside: %v", id, err)
		}
	}
	return n
}
