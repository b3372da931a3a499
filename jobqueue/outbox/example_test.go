package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// exampleDatabase is an empty database with nextrun's tables.
func exampleDatabase(ctx context.Context) (db *store.DB, remove func()) {
	slog.SetLogLoggerLevel(slog.LevelError)
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	db, err = store.Open(ctx, "sqlite:"+filepath.Join(dir, "app.db"), store.Options{Create: true})
	must(err)
	_, err = migrations.Of(db).Up(ctx)
	must(err)
	return db, func() {
		must(db.Close())
		must(os.RemoveAll(dir))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A relay hands the events of a topic over, in order. A refusal that lasts sets
// the message aside, and the topic goes on.
func ExampleRelay() {
	ctx := context.Background()
	db, remove := exampleDatabase(ctx)
	defer remove()
	must(db.Update(ctx, func(tx *store.Tx) error {
		_, err := outbox.AppendTx(ctx, tx,
			outbox.Event{Topic: "mail", Type: "welcome", AggregateID: "ada", Payload: `{"to": "ada@example.org"}`},
			outbox.Event{Topic: "mail", Type: "welcome", AggregateID: "bob", Payload: `{"to": "nowhere"}`},
			outbox.Event{Topic: "mail", Type: "welcome", AggregateID: "eve", Payload: `{"to": "eve@example.org"}`},
		)
		return err
	}))

	sent := make(chan string)
	send := func(_ context.Context, e outbox.Event) error {
		if !strings.Contains(e.Payload, "@") {
			return jobqueue.Permanent(errors.New("no address"))
		}
		sent <- e.AggregateID
		return nil
	}
	relay, err := relay.New(db.Outbox(), outbox.OneByOne(send), relay.Config{Name: "example", RefusalLimits: map[string]int{"mail": 1}})
	must(err)
	must(relay.Start(ctx))
	fmt.Println(<-sent, <-sent)
	must(relay.Stop(ctx))

	dead, err := db.Outbox().List(ctx, outbox.Filter{Status: outbox.Dead})
	must(err)
	fmt.Println(dead[0].AggregateID, dead[0].Problem)

	// Output:
	// ada eve
	// bob no address
}
