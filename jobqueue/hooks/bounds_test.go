package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/defaults"
	"github.com/nextrun/nextrun/internal/hookbook"
	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// recorder notes what an executor tells.
type recorder struct{ told chan jobdb.Told }

func (recorder) Hears(_, _ string, to jobqueue.State, _ jobqueue.Turned) bool { return to.Final() }

func (r recorder) Tell(_ context.Context, _ jobqueue.DBTX, _ time.Time, jobs []jobdb.Told) error {
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
		told := make(chan jobdb.Told, 1)
		f.executor(nil, func(c *executor.Config) { c.Hooks = recorder{told} })
		lines := (<-told).Lines
		if len(lines) < 2 || len(lines[0]) > 1<<14 || !strings.HasPrefix(lines[0], "xxx") {
			f.Errorf("%d lines, the first of %d bytes", len(lines), len(lines[0]))
		}
	})
}

// The jobs of a handler share a topic, whatever trackers their submitters gave them: a
// topic is kept for ever.
func TestTrackersMakeNoTopics(t *testing.T) {
	both(t, func(f *fixture) {
		var r receiver
		h := f.hooks(hooks.Hooks{All: hooks.Set{OnSuccess: r.action()}})
		for i := range 5 {
			f.submit("works", fmt.Sprint("order-", i))
		}
		f.executor(h)
		f.relay(h)
		r.wait(t, 5)
		f.Want("1", "SELECT count(DISTINCT topic) FROM event_store")
	})
}

// A batch ends before its time does, so that no hook is cut short because of those
// before it.
func TestSlowHooksAreNotCutShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		book, err := hookbook.NewBook(hooks.Hooks{All: hooks.Set{OnFailure: hooks.Func(func(ctx context.Context, _ hooks.Notice) error {
			select {
			case <-time.After(defaults.HookTimeout):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})}})
		if err != nil {
			t.Fatal(err)
		}
		var events []outbox.Event
		for range 20 {
			e := book.Events(hooks.Notice{Event: hooks.Failure, Handler: "backup"})[0]
			e.Created = time.Now()
			events = append(events, e)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
		defer cancel()
		n, err := book.Publisher(nil).Publish(ctx, events)
		if n != 3 || !errors.Is(err, outbox.ErrNotTried) {
			t.Errorf("%d delivered, %v", n, err)
		}
	})
}
