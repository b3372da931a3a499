package hooks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// recorder notes what an executor tells.
type recorder struct{ told chan exchange.Told }

func (recorder) Handler() jobqueue.Handler {
	return func(context.Context, *jobqueue.JobContext) error { return nil }
}

func (recorder) Hears(_, _ string, to jobqueue.State, _ jobqueue.Turned) bool { return to.Final() }

func (r recorder) Tell(_ context.Context, _ jobqueue.DBTX, _ time.Time, jobs []exchange.Told) error {
	for _, j := range jobs {
		r.told <- j
	}
	return nil
}

// Of very long lines hooks read only what they tell.
func TestHooksReadNoMoreOfALogThanTheyTell(t *testing.T) {
	both(t, func(f *fixture) {
		jid := f.submit("works", "")
		f.Exec("INSERT INTO joblog (id, jid, level, created, message, counter) VALUES ('a', $1, 'info', '2026-01-01 00:00:00.000000', $2, 1)",
			jid, strings.Repeat("x", 1<<20))
		told := make(chan exchange.Told, 1)
		f.executor(nil, func(c *executor.Config) { c.Hooks = recorder{told} })
		lines := (<-told).Lines
		if len(lines) < 2 || len(lines[0]) > 1<<14 || !strings.HasPrefix(lines[0], "xxx") {
			f.Errorf("%d lines, the first of %d bytes", len(lines), len(lines[0]))
		}
	})
}
