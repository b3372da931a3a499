package cloudevents

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// SpecVersion is the version of the specification that is followed.
const SpecVersion = "1.0"

// DefaultSource is the attribute source where none is configured.
const DefaultSource = "/nextrun"

// Media types of CloudEvents' JSON format.
const (
	StructuredType = "application/cloudevents+json"
	jsonType       = "application/json"
	textType       = "text/plain; charset=utf-8"
)

// Attribute is a context attribute of a CloudEvent, in its canonical text form.
type Attribute struct{ Name, Value string }

// Event is an [outbox.Event] as a CloudEvent: attributes in a fixed order, and data.
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
//	traceparent      Traceparent, if it has one (CloudEvents' distributed tracing extension)
type Event struct {
	Attributes  []Attribute // without datacontenttype
	ContentType string
	Data        string
}

// New returns an event as a CloudEvent. source is a URI reference that
// names who emits; empty: [DefaultSource].
func New(e outbox.Event, source string) Event {
	if source == "" {
		source = DefaultSource
	}
	c := Event{Data: e.Payload, ContentType: textType, Attributes: []Attribute{
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
	if utf8.ValidString(e.Payload) && json.Valid([]byte(e.Payload)) {
		c.ContentType = jsonType
	}
	if !e.Due.IsZero() {
		c.Attributes = append(c.Attributes, Attribute{"due", cloudTime(e.Due)})
	}
	if e.Traceparent != "" {
		c.Attributes = append(c.Attributes, Attribute{"traceparent", e.Traceparent})
	}
	return c
}

// Structured is the event in CloudEvents' JSON format, of the media type
// [StructuredType]: the attributes in their order, then the data.
func (c Event) Structured() ([]byte, error) {
	b := make([]byte, 0, len(c.Data)+512)
	member := func(name, value string) (err error) {
		b, err = appendText(append(append(append(b, ',', '"'), name...), '"', ':'), value)
		return err
	}
	for _, a := range c.Attributes {
		if err := member(a.Name, a.Value); err != nil {
			return nil, err
		}
	}
	if err := member("datacontenttype", c.ContentType); err != nil {
		return nil, err
	}
	if c.ContentType == jsonType {
		b = append(append(b, `,"data":`...), c.Data...)
	} else if err := member("data", c.Data); err != nil {
		return nil, err
	}
	b[0] = '{' // in the place of the first comma
	return append(b, '}'), nil
}

// appendText appends a text as [json.Marshal] writes it. Most texts have nothing
// to escape, and are spared it.
func appendText(b []byte, text string) ([]byte, error) {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }) {
		return append(append(append(b, '"'), text...), '"'), nil
	}
	escaped, err := json.Marshal(text)
	if err != nil {
		return nil, fmt.Errorf("encode CloudEvent: %w", err)
	}
	return append(b, escaped...), nil
}

// cloudTime is a time as RFC 3339 has it, in UTC.
func cloudTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
