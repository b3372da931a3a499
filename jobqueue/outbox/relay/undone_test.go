package relay_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// undo makes a trigger that undoes each update of an event's message, by
// setting a column to NULL.
func undo(f *fixture, column, event string) (heal func()) {
	f.Helper()
	if f.Kind == "sqlite" {
		f.exec(`CREATE TRIGGER undo AFTER UPDATE OF ` + column + ` ON outbox_message WHEN NEW.event_id = '` + event + `' AND NEW.` + column + ` IS NOT NULL
			BEGIN UPDATE outbox_message SET ` + column + ` = NULL WHERE id = NEW.id; END`)
		return func() { f.exec(`DROP TRIGGER undo`) }
	}
	f.exec(`CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.` + column + ` := NULL; RETURN NEW; END'`)
	f.exec(`CREATE TRIGGER undo BEFORE UPDATE ON outbox_message FOR EACH ROW WHEN (NEW.event_id = '` + event + `') EXECUTE FUNCTION undo()`)
	return func() { f.exec(`DROP TRIGGER undo ON outbox_message`) }
}

// heldUps returns a configuration that sends each notice of a topic that is
// held up.
func (f *fixture) heldUps() (relay.Config, <-chan relay.Notice) {
	named := make(chan relay.Notice, 1000)
	cfg := f.quick("one")
	cfg.Observe = func(n relay.Notice) {
		if n.Kind == relay.NoticeHeldUp {
			named <- n
		}
	}
	return cfg, named
}

// A trigger that takes back that a message was published, or died, or when it is
// to be tried again, would have the relay send the message without end.
func TestMessageWhoseOutcomeIsUndoneIsNotSentWithoutEnd(t *testing.T) {
	for column, test := range map[string]struct {
		answer error
		why    string
	}{
		"published": {nil, "was published"},
		"dead":      {outbox.Refuse(errReceiver), "is dead"},
		"retry":     {errReceiver, "failed and is to be tried again later"},
	} {
		t.Run(column, func(t *testing.T) {
			both(t, func(f *fixture) {
				all := f.append(events("t", 3)...)
				heal := undo(f, column, all[1].ID)
				r := newReceiver()
				cfg, named := f.heldUps()
				cfg.RefusalLimit = 1
				var sent atomic.Int64
				f.relay(outbox.PublisherFunc(func(ctx context.Context, events []outbox.Event) (int, error) {
					for i, e := range events {
						sent.Add(1)
						if e.ID == all[1].ID && test.answer != nil {
							return i, test.answer
						}
					}
					return r.publisher().Publish(ctx, events)
				}), cfg)
				select {
				case n := <-named:
					if n.Event.ID != all[1].ID || !strings.Contains(n.Err.Error(), test.why+": a trigger or a policy skips the update or undoes it") {
						f.Errorf("named %q: %v", n.Event.ID, n.Err)
					}
				case <-time.After(storetest.Patience):
					f.Fatal("no message is named")
				}
				other := f.append(events("other", 1)...)
				f.awaitOne("1", `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL AND event_id = '`+other[0].ID+`'`)
				if n := sent.Load(); n > 8 {
					f.Errorf("%d events were sent", n)
				}
				heal()
				f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL AND dead IS NULL AND retry IS NULL AND event_id = '`+all[1].ID+`'`)
			})
		})
	}
}
