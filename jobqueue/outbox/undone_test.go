package outbox_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
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
func (f *fixture) heldUps() (outbox.Config, <-chan outbox.Notice) {
	named := make(chan outbox.Notice, 1000)
	cfg := f.quick("one")
	cfg.Observe = func(n outbox.Notice) {
		if n.Kind == outbox.NoticeHeldUp {
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
					if n.Item.ID != all[1].ID || !strings.Contains(n.Err.Error(), test.why+": a trigger or a policy skips the update or undoes it") {
						f.Errorf("named %q: %v", n.Item.ID, n.Err)
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

// suppress makes a trigger that leaves out rows without an error.
func suppress(f *fixture, table, when string) (heal func()) {
	f.Helper()
	if f.Kind == "sqlite" {
		f.exec(`CREATE TRIGGER suppress BEFORE INSERT ON ` + table + ` WHEN ` + when + ` BEGIN SELECT RAISE(IGNORE); END`)
		return func() { f.exec(`DROP TRIGGER suppress`) }
	}
	f.exec(`CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
	f.exec(`CREATE TRIGGER suppress BEFORE INSERT ON ` + table + ` FOR EACH ROW WHEN (` + when + `) EXECUTE FUNCTION suppress()`)
	return func() { f.exec(`DROP TRIGGER suppress ON ` + table) }
}

// suppressions are the tables of an event, and the rows of aggregate bad in them.
var suppressions = map[string]string{
	"event_aggregate": "NEW.id = 'bad'",
	"event_store":     "NEW.aggregate_id = 'bad'",
	"outbox_message":  "NEW.topic = 'bad'",
}

func TestAppendReportsEventsThatTheDatabaseLeavesOut(t *testing.T) {
	for table, when := range suppressions {
		t.Run(table, func(t *testing.T) {
			both(t, func(f *fixture) {
				heal := suppress(f, table, when)
				add := func() error {
					return f.db.Update(f.Context(), func(tx *store.Tx) error {
						_, err := outbox.AppendTx(f.Context(), tx, outbox.Event{Topic: "good", Type: "x", AggregateID: "good"},
							outbox.Event{Topic: "bad", Type: "x", AggregateID: "bad"})
						return err
					})
				}
				err := add()
				if !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), `aggregate "bad"`) || !strings.Contains(err.Error(), table) {
					f.Errorf("the error is %v", err)
				}
				f.want(0, `SELECT count(*) FROM event_store`)
				heal()
				if err := add(); err != nil {
					f.Fatal(err)
				}
				f.want(2, `SELECT count(*) FROM outbox_message`)
				f.want(2, `SELECT count(*) FROM event_store WHERE aggregate_version = 1`)
			})
		})
	}
}

// A tick is submitted only if its event is there; the others of its batch go on.
func TestTickWhoseEventTheDatabaseLeavesOutIsNotSubmitted(t *testing.T) {
	for table, when := range suppressions {
		t.Run(table, func(t *testing.T) {
			both(t, func(f *fixture) {
				for _, id := range []string{"bad", "good", "well"} {
					f.exec(`INSERT INTO periodic_task (id, task, group_, timer, sink, catchup, nextrun)
						VALUES (?, 'x', ?, '*-*-* 02:00', 'event', 'none', '2026-01-01 02:00:00')`, id, id)
				}
				heal := suppress(f, table, when)
				f.schedule(1)
				f.want(2, `SELECT count(*) FROM periodic_tick WHERE decision = 'submitted'`)
				f.want(0, `SELECT count(*) FROM periodic_tick WHERE task_id = 'bad' AND decision = 'submitted'`)
				f.want(2, `SELECT count(*) FROM outbox_message`)
				f.want(2, `SELECT count(*) FROM event_store`)
				if problem := f.one(`SELECT problem FROM periodic_task WHERE id = 'bad'`); !strings.Contains(problem, table) || !strings.Contains(problem, `aggregate "bad"`) {
					f.Errorf("the problem is %q", problem)
				}
				heal()
				f.exec(`UPDATE periodic_task SET nextrun = '2025-12-31 02:00:00' WHERE task = 'x'`)
				f.schedule(1)
				f.want(1, `SELECT aggregate_version FROM event_store WHERE aggregate_id = 'bad'`)
				f.want(2, `SELECT max(aggregate_version) FROM event_store WHERE aggregate_id = 'good'`)
			})
		})
	}
}
