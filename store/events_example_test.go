package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// A program that appends an event in its own transaction, and one that consumes it in the transaction
// that marks it. docs/events.md shows both.
func Example_events() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	slog.SetLogLoggerLevel(slog.LevelError)
	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "app.db"), store.Options{Create: true})
	must(err)
	_, err = migrations.Of(db).Up(ctx)
	must(err)

	booked := make(chan outbox.Event)
	book := func(_ context.Context, _ jobqueue.DBTX, e outbox.Event) error {
		booked <- e
		return nil
	}
	host, err := os.Hostname()
	must(err)

	consumer, err := relay.NewConsumer(db.Outbox(),
		func(ctx context.Context, tx jobqueue.DBTX, e outbox.Event) error { return book(ctx, tx, e) },
		relay.Config{Name: host, Topics: []string{"orders"}})
	must(err)
	must(consumer.Start(ctx))

	err = db.Update(ctx, func(tx *store.Tx) error {
		// the caller's own changes, and with them:
		_, err := outbox.AppendTx(ctx, tx, outbox.Event{
			Topic: "orders", Type: "order.placed", AggregateID: "order-4711", Payload: `{"total": 12}`,
		})
		return err
	})
	must(err)

	event := <-booked
	fmt.Println(event.Type, event.AggregateID, event.Payload)
	must(consumer.Stop(ctx))
	must(db.Close())

	// Output: order.placed order-4711 {"total": 12}
}
