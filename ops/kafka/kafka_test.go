package kafka_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/kafka"
)

func TestRecordIsACloudEvent(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	at := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	e := outbox.Event{ID: "e1", Topic: "orders", Type: "placed", AggregateID: "o1", AggregateVersion: 3, Payload: `{"a":1}`, Created: at,
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
	binary := publisher(t, kafka.Config{Brokers: c.ListenAddrs(), Source: "/shop"})
	structured := publisher(t, kafka.Config{Brokers: c.ListenAddrs(), Topic: "bills", Structured: true})
	for _, p := range []outbox.Publisher{binary, structured} {
		if n, err := p.Publish(t.Context(), []outbox.Event{e}); n != 1 || err != nil {
			t.Fatalf("published %d, %v", n, err)
		}
	}
	for _, r := range consume(t, c, func(r []*kgo.Record) bool { return len(r) == 2 }) {
		if string(r.Key) != "o1" {
			t.Errorf("the key is %q, want the aggregate's id", r.Key)
		}
		if got := header(r, "traceparent"); got != e.Traceparent {
			t.Errorf("traceparent is %q", got)
		}
		if r.Topic == "bills" {
			if header(r, "content-type") != "application/cloudevents+json; charset=utf-8" || !strings.Contains(string(r.Value), `"data":{"a":1}`) {
				t.Errorf("structured: %v %s", r.Headers, r.Value)
			}
			continue
		}
		for name, want := range map[string]string{
			"ce_specversion": "1.0", "ce_id": "e1", "ce_source": "/shop", "ce_type": "placed", "ce_subject": "o1",
			"ce_time": "2026-03-01T12:30:00.000000Z", "ce_partitionkey": "o1", "ce_aggregateversion": "3",
			"content-type": "application/json", "ce_traceparent": e.Traceparent,
		} {
			if got := header(r, name); got != want {
				t.Errorf("header %s is %q, want %q", name, got, want)
			}
		}
		if string(r.Value) != `{"a":1}` {
			t.Errorf("the value is %s", r.Value)
		}
	}
}

// A broker that accepts connections and is silent, and one that falls silent once it has greeted, end the attempt with its timeout.
func TestSilentBrokers(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	c := cluster(t)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		c.SleepControl(func() { <-t.Context().Done() })
		return nil, nil, false
	})
	for name, addresses := range map[string][]string{"from the start": {silent.Addr().String()}, "after the greeting": c.ListenAddrs()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := publisher(t, kafka.Config{Brokers: addresses, Timeout: 300 * time.Millisecond})
			began := time.Now()
			n, err := p.Publish(t.Context(), []outbox.Event{{ID: "e", Topic: "orders", Type: "x", AggregateID: "a"}})
			if n != 0 || err == nil || jobqueue.IsPermanent(err) || !strings.Contains(err.Error(), "300ms") {
				t.Errorf("%d, %v", n, err)
			}
			p.Close()
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestErrorsSayWhatToExpect(t *testing.T) {
	t.Parallel()
	nobody := publisher(t, kafka.Config{Brokers: []string{"127.0.0.1:1"}, Timeout: time.Second})
	n, err := nobody.Publish(t.Context(), []outbox.Event{{ID: "e", Topic: "orders", Type: "x", AggregateID: "a"}})
	if n != 0 || err == nil || jobqueue.IsPermanent(err) || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody there: %d, %v; want an error that names the address, and no refusal", n, err)
	}
	for field, cfg := range map[string]kafka.Config{
		"Brokers": {}, "Timeout": {Brokers: []string{"x:1"}, Timeout: -1},
		"SASL":      {Brokers: []string{"x:1"}, SASL: kafka.SASL{Mechanism: kafka.Plain, User: "u", Password: "geheim"}},
		"Mechanism": {Brokers: []string{"x:1"}, SASL: kafka.SASL{Mechanism: "md5", User: "u", Password: "geheim"}},
	} {
		if _, err := kafka.New(cfg); err == nil || !strings.Contains(err.Error(), field) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func incompressible(size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(' ' + rand.IntN(90))
	}
	return string(b)
}

// Brokers may take less than this producer's batches: what they refuse then is
// the batch, not the events in it.
func TestBatchThatTheBrokersFindTooLarge(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "20000"}))
	p := publisher(t, kafka.Config{Brokers: c.ListenAddrs()})
	events := make([]outbox.Event, 9)
	for i := range events {
		events[i] = outbox.Event{ID: fmt.Sprint(i), Topic: "orders", Type: "x", AggregateID: "a", Payload: incompressible(5000)}
	}
	if n, err := p.Publish(t.Context(), events); n != len(events) || err != nil {
		t.Fatalf("published %d, %v", n, err)
	}
	all(t, c, events)
}

// An event that is too large must not be overtaken by those behind it.
func TestNothingOvertakesAnEventThatIsTooLarge(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	p := publisher(t, kafka.Config{Brokers: c.ListenAddrs()})
	events := make([]outbox.Event, 3)
	for i := range events {
		events[i] = outbox.Event{ID: fmt.Sprint(i), Topic: "orders", Type: "x", AggregateID: "a"}
	}
	events[1].Payload = incompressible(3 << 20)
	if n, err := p.Publish(t.Context(), events); n != 1 || !jobqueue.IsPermanent(err) {
		t.Errorf("published %d, %v; want 1 and a refusal", n, err)
	}
	events[1].Payload = ""
	if n, err := p.Publish(t.Context(), events[1:]); n != 2 || err != nil {
		t.Fatalf("published %d, %v", n, err)
	}
	all(t, c, events)
}
