package outbox

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// SpecVersion is the version of the CloudEvents specification that is followed:
// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
const SpecVersion = "1.0"

// DefaultCloudSource is the attribute source where none is configured.
const DefaultCloudSource = "/nextrun"

// Media types of CloudEvents' JSON format.
const (
	StructuredType = "application/cloudevents+json"
	jsonType       = "application/json"
	textType       = "text/plain; charset=utf-8"
)

// Attribute is a context attribute of a CloudEvent, in its canonical text form.
type Attribute struct{ Name, Value string }

// CloudEvent is an [Event] as a CloudEvent: attributes, in a fixed order, and
// data.
//
//	id               the event's id: what duplicates are recognised by, with source
//	source           as configured
//	type             Type
//	subject          AggregateID
//	time             Created
//	datacontenttype  application/json, or text/plain if Payload is not JSON
//	topic            Topic (extension)
//	partitionkey     AggregateID (CloudEvents' partitioning extension)
//	aggregateversion AggregateVersion, a text, since CloudEvents' integers have 32 bits (extension)
//	due              Due, if it has one (extension)
type CloudEvent struct {
	Attributes  []Attribute // without datacontenttype
	ContentType string
	Data        string
}

// NewCloudEvent returns an event as a CloudEvent. source is a URI reference that
// names who emits; empty: [DefaultCloudSource].
func NewCloudEvent(e Event, source string) CloudEvent {
	if source == "" {
		source = DefaultCloudSource
	}
	c := CloudEvent{Data: e.Payload, ContentType: textType, Attributes: []Attribute{
		{"specversion", SpecVersion},
		{"id", e.ID},
		{"source", source},
		{"type", e.Type},
		{"subject", e.AggregateID},
		{"time", cloudTime(e.Created)},
		{"topic", e.Topic},
		{"partitionkey", e.AggregateID},
		{"aggregateversion", strconv.FormatInt(e.AggregateVersion, 10)},
	}}
	if json.Valid([]byte(e.Payload)) {
		c.ContentType = jsonType
	}
	if !e.Due.IsZero() {
		c.Attributes = append(c.Attributes, Attribute{"due", cloudTime(e.Due)})
	}
	return c
}

// Structured is the event in CloudEvents' JSON format, of the media type
// [StructuredType].
func (c CloudEvent) Structured() ([]byte, error) {
	m := make(map[string]any, len(c.Attributes)+2)
	for _, a := range c.Attributes {
		m[a.Name] = a.Value
	}
	m["datacontenttype"] = c.ContentType
	m["data"] = c.Data
	if c.ContentType == jsonType {
		m["data"] = json.RawMessage(c.Data)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode CloudEvent: %w", err)
	}
	return text, nil
}

// cloudTime is a time as RFC 3339 has it, in UTC.
func cloudTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
