package kafka_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/ops/kafka"
)

// Brokers that fail at random or answer nothing for a while, and two relays.
func TestNoEventIsLostOnTheWayToKafka(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) { testNoEventIsLost(t, d.URL) })
}

func testNoEventIsLost(t *testing.T, url string) {
	db := open(t, url)
	c := cluster(t)
	want := appendEvents(t, db, 60)

	var down atomic.Bool
	failed := make(chan struct{}, 1)
	c.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if !down.Load() && rand.IntN(4) > 0 {
			return nil, nil, false
		}
		if down.Load() {
			select {
			case failed <- struct{}{}:
			default:
			}
		}
		if rand.IntN(2) == 0 {
			return nil, errors.New("the connection breaks"), true
		}
		return refuseProduce(request.(*kmsg.ProduceRequest)), nil, true
	})
	for _, name := range []string{"one", "two"} {
		p := publisher(t, kafka.Config{Brokers: c.ListenAddrs(), Timeout: 500 * time.Millisecond})
		relay, err := relay.New(db.Outbox(), p, quick(name))
		if err == nil {
			err = relay.Start(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := relay.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	consume(t, c, func(r []*kgo.Record) bool { return len(distinct(r)) >= len(want)/2 })
	down.Store(true)
	want = append(want, appendEvents(t, db, 20)...)
	for range 3 {
		<-failed
	}
	down.Store(false)
	got := consume(t, c, func(r []*kgo.Record) bool { return len(distinct(r)) == len(want) })
	checkOrder(t, got, want)
}

// refuseProduce is the answer of a broker that cannot write now.
func refuseProduce(request *kmsg.ProduceRequest) *kmsg.ProduceResponse {
	response := request.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range request.Topics {
		t := kmsg.NewProduceResponseTopic()
		t.Topic, t.TopicID = topic.Topic, topic.TopicID
		for _, partition := range topic.Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.ErrorCode = partition.Partition, kerr.NotEnoughReplicas.Code
			t.Partitions = append(t.Partitions, p)
		}
		response.Topics = append(response.Topics, t)
	}
	return response
}
