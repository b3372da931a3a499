package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// record is an event as a record.
func (c Config) record(e outbox.Event) (*kgo.Record, error) {
	cloud := outbox.NewCloudEvent(e, c.Source)
	r := &kgo.Record{Topic: e.Topic, Key: []byte(e.AggregateID), Value: []byte(cloud.Data)}
	if c.Topic != "" {
		r.Topic = c.Topic
	}
	header := func(name, value string) {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
	}
	if c.Structured {
		var err error
		if r.Value, err = cloud.Structured(); err != nil {
			return nil, outbox.Refuse(err)
		}
		header("content-type", outbox.StructuredType+"; charset=utf-8")
		return r, nil
	}
	for _, a := range cloud.Attributes {
		header("ce_"+a.Name, a.Value)
	}
	header("content-type", cloud.ContentType)
	return r, nil
}
