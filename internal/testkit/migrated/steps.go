package migrated

import (
	"log/slog"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// Schedule has a scheduler do once what is due.
func (d *Database) Schedule(change ...func(*scheduler.Config)) {
	d.Helper()
	log := slog.New(slog.DiscardHandler)
	cfg := scheduler.Config{Name: "s", Logger: log}
	for _, c := range change {
		c(&cfg)
	}
	s, err := scheduler.New(d.Store.Periodic(), cfg)
	if err == nil {
		err = storetest.Insist(func() error { return s.RunOnce(d.Context()) })
	}
	if err != nil {
		d.Fatal(err)
	}
}

// Work runs jobs of a task until n attempts have ended.
func (d *Database) Work(n int, task string, handler jobqueue.Handler, change ...func(*executor.Config)) {
	d.Helper()
	log := slog.New(slog.DiscardHandler)
	cfg := executor.Config{Name: "e", Logger: log, Observe: func(executor.Event) {}}
	for _, c := range change {
		c(&cfg)
	}
	ended := make(chan struct{}, 100)
	observe := cfg.Observe
	cfg.Observe = func(e executor.Event) {
		observe(e)
		if e.Kind == executor.EventEnded {
			ended <- struct{}{}
		}
	}
	e, err := executor.New(d.Store.Jobs(), cfg)
	if err != nil {
		d.Fatal(err)
	}
	e.Register(task, handler)
	if err := e.Start(d.Context()); err != nil {
		d.Fatal(err)
	}
	for range n {
		<-ended
	}
	if err := e.Stop(d.Context()); err != nil {
		d.Error(err)
	}
}
