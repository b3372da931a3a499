//go:build crashpoints && linux

package crashpoint_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/store"
)

// The environment of a consumer: another process of the test's program.
const (
	consumerDatabase = "NEXTRUN_CRASH_CONSUMER_DB"
	consumerReceiver = "NEXTRUN_CRASH_CONSUMER_URL"
)

// consumer starts a process that reads the table of events as a member of a group.
func (p *place) consumer(name, where string) *process {
	p.t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestConsumer$")
	c.Env = append(os.Environ(), consumerDatabase+"="+p.URL, consumerReceiver+"="+p.receiver.URL+"/event/consumed", "NEXTRUN_CRASHPOINT="+where)
	return start(p.t, name, c)
}

// TestConsumer is no test but a process of others.
func TestConsumer(t *testing.T) {
	url := os.Getenv(consumerDatabase)
	if url == "" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := store.Open(ctx, url, store.Options{IdleTimeout: lease})
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := relay.NewConsumer(db.EventLog("readers"), tellReceiver, relay.Config{
		Name: "reader", Lease: lease, Topics: []string{"orders"}, RetryMin: lease / 20, RetryMax: lease / 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := consumer.Start(ctx); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(os.Stderr, "consumer started ")
	<-ctx.Done()
	if err := consumer.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
}

// tellReceiver is the handler of the consumer.
func tellReceiver(ctx context.Context, e outbox.Event) error {
	body, err := json.Marshal(map[string]string{"id": e.ID, "partitionkey": e.AggregateID, "aggregateversion": strconv.FormatInt(e.AggregateVersion, 10)})
	if err != nil {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv(consumerReceiver), bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the receiver answered %s", answer.Status)
	}
	return nil
}
