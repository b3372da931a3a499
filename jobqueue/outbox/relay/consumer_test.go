package relay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// consumer starts a consumer that is stopped with the test.
func (f *fixture) consumer(consume outbox.Consumer, cfg relay.Config) {
	f.Helper()
	c, err := relay.NewConsumer(f.db.Outbox(), consume, cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.start(c)
}

// books is a consumer that writes each event into the table booked, in the transaction that marks it, unless fail is
// not nil and returns an error after that.
func (f *fixture) books(fail func(outbox.Event) error) outbox.Consumer {
	f.Exec(`CREATE TABLE booked (id varchar(254) NOT NULL PRIMARY KEY, aggregate varchar(254) NOT NULL, version integer NOT NULL)`)
	return func(ctx context.Context, tx jobqueue.DBTX, e outbox.Event) error {
		text := strings.NewReplacer("'", "''")
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO booked (id, aggregate, version) VALUES ('%s', '%s', %d)`,
			text.Replace(e.ID), text.Replace(e.AggregateID), e.AggregateVersion))
		if err == nil && fail != nil {
			err = fail(e)
		}
		return err
	}
}

// What a consumer writes with the transaction that marks the event happens once, also if it fails after it has
// written, and whatever happens once more to the event: its table refuses an event that comes twice.
func TestWhatAConsumerWritesHappensOnce(t *testing.T) {
	both(t, func(f *fixture) {
		attempts := map[string]int{}
		consume := f.books(func(e outbox.Event) error {
			if attempts[e.ID]++; attempts[e.ID] == 1 && e.AggregateVersion%2 == 0 {
				if e.AggregateVersion%4 == 0 {
					panic("a panic is an error too")
				}
				return errors.New("not yet")
			}
			return nil
		})
		cfg := f.quick("one")
		cfg.Topics = []string{"a"}
		f.append(events("a", 40)...)
		f.append(events("other", 3)...)
		f.consumer(consume, cfg)
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL AND topic = 'a'`)
		f.append(events("a", 5)...)
		f.awaitOne("45", `SELECT count(*) FROM booked`)
		f.awaitOne("45", `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`)
		f.Want(3, `SELECT count(*) FROM outbox_message WHERE published IS NULL AND attempts = 0`) // of a topic that nobody consumes
	})
}

// A consumer that has lost its lease undoes what it has written.
func TestConsumerWithoutItsLease(t *testing.T) {
	both(t, func(f *fixture) {
		f.append(events("t", 1)...)
		consume := f.books(nil)
		b := f.lease("old")
		try := func() error {
			return f.db.Outbox().Consume(f.Context(), b.Lease, terms, b.Items[0], consume)
		}
		f.Exec(`UPDATE scheduler_lock SET holder = 'new' WHERE name = 'topic:t'`)
		if err := try(); !errors.Is(err, relay.ErrLeaseLost) {
			f.Errorf("consumed under a lost lease: %v", err)
		}
		f.Want(0, `SELECT count(*) FROM booked`)
		f.Exec(`UPDATE scheduler_lock SET holder = 'old' WHERE name = 'topic:t'`)
		if err := try(); err != nil {
			f.Error(err)
		}
		var failed *relay.RowError
		if err := try(); !errors.As(err, &failed) { // its table refuses it
			f.Errorf("consumed twice: %v", err)
		}
		f.Want(1, `SELECT count(*) FROM booked`)
	})
}

// Relays learn of events by notification, without a poll. An idle one has nothing to do, and no lease.
func TestEventsAreNoticedAtOnce(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		cfg := f.quick("one")
		cfg.PollInterval = time.Hour
		f.relay(r.publisher(), cfg)
		for n := range 3 {
			f.append(events("t", 1)...)
			r.await(f, n+1)
		}
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
		if _, err := f.db.Outbox().Resend(f.Context(), []string{r.got[0].ID}); err != nil {
			f.Fatal(err)
		}
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
		f.awaitOne("0", `SELECT count(*) FROM scheduler_lock`)
		if list, err := f.db.Outbox().Topics(f.Context(), "x", nil); err != nil || len(list) > 0 {
			f.Errorf("topics %+v, %v", list, err)
		}
	})
}

// counting counts how often the topics are listed.
type counting struct {
	relay.Source
	looks *atomic.Int64
}

func (c counting) Topics(ctx context.Context, holder string, only []string) ([]relay.Topic, error) {
	c.looks.Add(1)
	return c.Source.Topics(ctx, holder, only)
}

// With many topics, to list them for each that becomes free would take most of
// the time.
func TestManyTopicsAreListedSeldom(t *testing.T) {
	both(t, func(f *fixture) {
		const topics = 60
		var batch []outbox.Event
		for i := range topics {
			batch = append(batch, events(fmt.Sprintf("t%d", i), 3)...)
		}
		want := f.append(batch...)
		relayed := newReceiver()
		var looks [2]atomic.Int64
		for i, name := range []string{"one", "two"} {
			cfg := f.quick(name)
			cfg.Concurrency, cfg.Lease, cfg.PollInterval = 2, time.Minute, time.Minute
			relay, err := relay.New(counting{f.db.Outbox(), &looks[i]}, relayed.publisher(), cfg)
			if err != nil {
				f.Fatal(err)
			}
			f.start(relay)
		}
		relayed.await(f, len(want))
		if n := looks[0].Load() + looks[1].Load(); n > topics/2 {
			f.Errorf("the topics were listed %d times for %d topics", n, topics)
		}
		relayed.check(f, want)
		if n := relayed.repetitions(); n > 0 {
			f.Errorf("%d events came twice though nothing failed", n)
		}
	})
}
