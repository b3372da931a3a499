package relay_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/store"
)

func TestMain(m *testing.M) {
	migrated.As("relay", "scheduler", "operator")
	migrated.VerifyTestMain(m)
}

// fixture is a database of a test's own, with the schema in it.
type fixture struct {
	*storetest.Database
	db *store.DB
}

// both runs a test on SQLite and on PostgreSQL.
func both(t *testing.T, test func(f *fixture)) {
	t.Helper()
	t.Parallel()
	migrated.Both(t, func(_ *testing.T, d *migrated.Database) { test(newFixture(d)) })
}

func newFixture(d *migrated.Database) *fixture { return &fixture{d.Database, d.Store} }

// append appends events in a transaction of their own.
func (f *fixture) append(events ...outbox.Event) []outbox.Event {
	f.Helper()
	var appended []outbox.Event
	err := f.db.Update(f.Context(), func(tx *store.Tx) (err error) {
		appended, err = outbox.AppendTx(f.Context(), tx, events...)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	return appended
}

// events makes n events of a topic, of the aggregates a0 to a4 in turn.
func events(topic string, n int) []outbox.Event {
	list := make([]outbox.Event, n)
	for i := range list {
		list[i] = outbox.Event{
			Topic: topic, Type: "counted", AggregateID: fmt.Sprintf("%s-a%d", topic, i%5), Payload: fmt.Sprintf(`{"n":%d}`, i),
		}
	}
	return list
}

// quick is a configuration that tries again soon, of which trouble with the
// database fails the test.
func (f *fixture) quick(name string) relay.Config {
	cfg := quick(name)
	cfg.Lease, cfg.Observe = time.Minute, troubles(f) // a lease that ends on a slow machine has events published again
	return cfg
}

func quick(name string) relay.Config {
	return relay.Config{
		Name: name, Lease: time.Second, PollInterval: 200 * time.Millisecond, BatchSize: 10,
		RetryMin: time.Millisecond, RetryMax: 20 * time.Millisecond, Logger: silent(),
	}
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// troubles fails the test if a relay has trouble with the database.
func troubles(t testing.TB) func(relay.Notice) {
	return func(n relay.Notice) {
		if n.Kind == relay.NoticeTrouble && !errors.Is(n.Err, store.ErrBusy) {
			t.Errorf("while trying to %s: %v", n.Doing, n.Err)
		}
	}
}

// relay starts a relay that is stopped with the test.
func (f *fixture) relay(p outbox.Publisher, cfg relay.Config) *relay.Relay {
	f.Helper()
	r, err := relay.New(f.db.Outbox(), p, cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.start(r)
	return r
}

type service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// start starts a service that is stopped with the test, before the database is
// closed.
func (f *fixture) start(s service) {
	f.Helper()
	if err := s.Start(context.Background()); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			f.Error(err)
		}
	})
}
