package kafka_test

import (
	"context"
	"slices"
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
func distinct(records []*kgo.Record) map[string]bool {
	ids := map[string]bool{}
	for _, r := range records {
		ids[header(r, "ce_id")] = true
	}
	return ids
}

// checkOrder fails unless the events of each aggregate came, for the first
// time, in the order of want.
func checkOrder(t *testing.T, got []*kgo.Record, want []outbox.Event) {
	t.Helper()
	wanted, first := map[string][]string{}, map[string][]string{}
	for _, e := range want {
		wanted[e.AggregateID] = append(wanted[e.AggregateID], e.ID)
	}
	seen := map[string]bool{}
	for _, r := range got {
		if id := header(r, "ce_id"); !seen[id] {
			seen[id] = true
			first[string(r.Key)] = append(first[string(r.Key)], id)
		}
	}
	for aggregate := range wanted {
		if !slices.Equal(first[aggregate], wanted[aggregate]) {
			t.Errorf("aggregate %s came out of order or not whole:\n got  %v\n want %v", aggregate, first[aggregate], wanted[aggregate])
		}
	}
}
