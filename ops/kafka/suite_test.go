package kafka_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/kafka"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a Kafka cluster that fails as it is told.
func cluster(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append(options, kfake.NumBrokers(1), kfake.SeedTopics(3, "orders", "bills"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func publisher(t *testing.T, cfg kafka.Config) *kafka.Publisher {
	t.Helper()
	p, err := kafka.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// consume reads records until done says that these are all.
func consume(t *testing.T, c *kfake.Cluster, done func([]*kgo.Record) bool) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics("orders", "bills"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), storetest.Patience)
	defer cancel()
	var records []*kgo.Record
	for !done(records) {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("%d records came, which are not all", len(records))
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

func header(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}

// all waits for the records of events, and fails unless these came, in their order.
func all(t *testing.T, c *kfake.Cluster, want []outbox.Event) {
	t.Helper()
	got := consume(t, c, func(r []*kgo.Record) bool { return len(r) == len(want) })
	for i, e := range want {
		if id := header(got[i], "ce_id"); id != e.ID {
			t.Errorf("record %d is event %q, want %q", i, id, e.ID)
		}
	}
}
