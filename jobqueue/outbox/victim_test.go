package outbox_test

import (
	"context"
	"fmt"
	"os"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/store"
)

// victimVariable holds, in a process that runs a relay to be killed, the URL of
// the database and that of the receiver.
const (
	victimVariable   = "NEXTRUN_TEST_VICTIM_DB"
	receiverVariable = "NEXTRUN_TEST_VICTIM_RECEIVER"
)

// victim runs a relay that posts a batch, says so on standard output, and never
// gets to record it.
func victim() int {
	ctx := context.Background()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	db, err := store.Open(ctx, os.Getenv(victimVariable), store.Options{})
	if err != nil {
		return fail(err)
	}
	hook, err := webhook.New(webhook.Config{URL: os.Getenv(receiverVariable)})
	if err != nil {
		return fail(err)
	}
	stuck := outbox.PublisherFunc(func(ctx context.Context, events []outbox.Event) (int, error) {
		n, err := hook.Publish(ctx, events)
		fmt.Printf("published %d %v\n", n, err)
		select {}
	})
	relay, err := outbox.New(db.Outbox(), stuck, quick("victim"))
	if err != nil {
		return fail(err)
	}
	if err := relay.Start(ctx); err != nil {
		return fail(err)
	}
	select {}
}
