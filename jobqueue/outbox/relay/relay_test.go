package relay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/ops/verify"
	"github.com/nextrun/nextrun/store"
)

// Ids commit out of order: an event of a transaction that began earlier and
// commits later is published too, and so is what came between.
func TestLateCommitIsNotPassedOver(t *testing.T) {
	t.Parallel()
	f := newFixture(migrated.New(t, storetest.Postgres))
	r := newReceiver()
	f.relay(r.publisher(), f.quick("one"))
	var all []outbox.Event
	err := f.db.Update(f.Context(), func(tx *store.Tx) error {
		late, err := outbox.AppendTx(f.Context(), tx, outbox.Event{Topic: "t", Type: "x", AggregateID: "late"})
		if err != nil {
			return err
		}
		all = append(f.append(outbox.Event{Topic: "t", Type: "x", AggregateID: "early"}), late...)
		r.await(f, 1)
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	r.await(f, 2)
	r.set(func(r *receiver) {
		if r.got[0].ID != all[0].ID || r.got[1].ID != all[1].ID {
			f.Errorf("got %+v, want the early event before the late one", r.got)
		}
	})
}

// A batch ends before the event whose payload would be too much for it; one
// that is too long by itself goes alone.
func TestBatchKeepsToItsBytes(t *testing.T) {
	both(t, func(f *fixture) {
		batch := events("t", 5)
		for i := range batch {
			batch[i].Payload = strings.Repeat("ä", 2<<20) // 4 MiB
		}
		batch[3].Payload = strings.Repeat("ä", 5<<20)
		var want []outbox.Event
		for _, e := range batch { // a transaction each, none of which takes long
			want = append(want, f.append(e)...)
		}
		r := newReceiver()
		var sizes []int
		f.relay(outbox.PublisherFunc(func(ctx context.Context, events []outbox.Event) (int, error) {
			r.set(func(*receiver) { sizes = append(sizes, len(events)) })
			return r.publisher().Publish(ctx, events)
		}), f.quick("one"))
		r.await(f, len(want))
		r.check(f, want)
		r.set(func(*receiver) {
			if !slices.Equal(sizes, []int{2, 1, 1, 1}) {
				f.Errorf("batches of %d events, want 2, 1, 1, 1", sizes)
			}
		})
	})
}

// A relay that was stopped past its lease cannot record what it did, nor can one that has given the topic back. A lease
// that is given back has no row.
func TestLostLeaseCannotRecord(t *testing.T) {
	both(t, func(f *fixture) {
		f.append(events("t", 3)...)
		old := f.lease("old")
		if b := f.lease("new"); old == nil || b != nil {
			f.Errorf("leased %+v, then %+v", old, b)
		}
		if list, err := f.db.Outbox().Topics(f.Context(), "new", nil); err != nil || len(list) != 1 || list[0].Wait <= 0 {
			f.Errorf("topics %+v, %v; want one that somebody holds", list, err)
		}
		f.Exec(`UPDATE scheduler_lock SET expires = '2000-01-01 00:00:00.000000'`)
		b := f.lease("new")
		if b == nil || len(b.Items) != 1 {
			f.Fatalf("leased %+v; want the topic whose lease ended", b)
		}
		settle := func(b *relay.Batch) error {
			_, err := f.db.Outbox().Settle(f.Context(), relay.Settlement{Lease: b.Lease, Accepted: b.Items})
			return err
		}
		if err := settle(old); !errors.Is(err, relay.ErrLeaseLost) {
			f.Errorf("settled under a lost lease: %v", err)
		}
		f.Want(0, `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`)
		if err := settle(b); err != nil {
			f.Error(err)
		}
		f.Want(0, `SELECT count(*) FROM scheduler_lock`)
		f.lease("next")
		if err := settle(b); !errors.Is(err, relay.ErrLeaseLost) {
			f.Errorf("settled under a lease of somebody else: %v", err)
		}
	})
}

// terms are those of a batch of one event.
var terms = relay.Terms{Lease: time.Minute, Limit: 1}

// lease takes the topic t; nil: it cannot be had.
func (f *fixture) lease(holder string) *relay.Batch {
	f.Helper()
	b, err := f.db.Outbox().Lease(f.Context(), holder, "t", terms)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

func TestStopGivesTheTopicBack(t *testing.T) {
	both(t, func(f *fixture) {
		f.append(events("t", 25)...)
		publishing, proceed := make(chan struct{}, 9), make(chan struct{})
		slow := outbox.PublisherFunc(func(_ context.Context, events []outbox.Event) (int, error) {
			publishing <- struct{}{}
			<-proceed
			return len(events), nil
		})
		cfg := f.quick("one")
		cfg.Lease = time.Hour
		one := f.relay(slow, cfg)
		<-publishing
		stopped := storetest.Stop(f, one.Stop)
		close(proceed)
		if err := <-stopped; err != nil {
			f.Error(err)
		}
		if n := f.One(`SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`); n == "0" || n == "25" {
			f.Errorf("%s messages recorded; want those of the batch in flight", n)
		}
		f.relay(newReceiver().publisher(), cfg)
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
	})
}

func TestConfigNamesTheField(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]relay.Config{
		"Name": {Name: "a/b"}, "Lease": {Name: "a", Lease: 1}, "BatchSize": {Name: "a", BatchSize: -1},
		"RetryMax": {Name: "a", RetryMin: time.Hour, RetryMax: time.Minute}, "Concurrency": {Name: "a", Concurrency: 2000},
	} {
		if _, err := relay.New(nil, nil, cfg); err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := relay.New(nil, nil, relay.Config{Name: "a", RetryMin: 2 * time.Minute}); err != nil {
		t.Error(fmt.Errorf("a RetryMin above the default of RetryMax: %w", err))
	}
}

// The receiver of this test fails at random, sometimes after it has taken the
// event, and is down for a while.
func TestNoEventIsLost(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		want := f.append(append(events("a", 60), events("b", 60)...)...)

		r.set(func(r *receiver) { r.failing, r.lying = 0.2, 0.5 })
		for _, name := range []string{"one", "two"} {
			f.relay(r.publisher(), f.quick(name))
		}
		r.await(f, len(want)/2)
		r.set(func(r *receiver) { r.down = true })
		want = append(want, f.append(events("a", 20)...)...)
		f.awaitOne("1", `SELECT CASE WHEN max(attempts) >= 4 THEN 1 ELSE 0 END FROM outbox_message WHERE published IS NULL`)
		r.set(func(r *receiver) { r.down = false })
		r.await(f, len(want))
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
		r.check(f, want)
		if r.repetitions() == 0 {
			f.Error("no event came twice, though the receiver took some that it said it had not")
		}
		migrated.Verify(f, f.db, verify.Options{})
	})
}

// awaitOne waits until a query returns a value.
func (f *fixture) awaitOne(want, query string) {
	f.Helper()
	storetest.Eventually(f, query+" is "+want, func() bool { return f.One(query) == want })
}
