package kafka

import (
	"cmp"
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/cloudevents"
)

// record is an event as a record.
func (c Config) record(ctx context.Context, e outbox.Event) *kgo.Record {
	cloud := cloudevents.New(e, c.Source)
	r := &kgo.Record{Topic: e.Topic, Key: []byte(e.AggregateID), Value: []byte(cloud.Data)}
	if c.Topic != "" {
		r.Topic = c.Topic
	}
	header := func(name, value string) {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
	}
	if parent := cmp.Or(e.Traceparent, jobqueue.Traceparent(ctx)); parent != "" {
		header("traceparent", parent)
	}
	if c.Structured {
		r.Value = cloud.Structured()
		header("content-type", cloudevents.StructuredType+"; charset=utf-8")
		return r
	}
	for _, a := range cloud.Attributes {
		header("ce_"+a.Name, a.Value)
	}
	header("content-type", cloud.ContentType)
	return r
}

// What a record and each of its headers take in a batch beside their texts, at
// most.
const (
	recordOverhead = 128
	headerOverhead = 10
)

// fitting is how many of the first records are sure to fit into one batch; 1 if
// none is.
func (c Config) fitting(records []*kgo.Record) int {
	left := c.MaxBytes
	for i, r := range records {
		left -= len(r.Key) + len(r.Value) + recordOverhead
		for _, h := range r.Headers {
			left -= len(h.Key) + len(h.Value) + headerOverhead
		}
		if left < 0 {
			return max(i, 1)
		}
	}
	return len(records)
}
