package cloudevents

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

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
		{"specversion", "1.0"},
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
func (c Event) Structured() []byte {
	b := make([]byte, 0, len(c.Data)+512)
	member := func(name, value string) {
		text, _ := json.Marshal(value) // a text never fails
		b = append(fmt.Appendf(b, `,"%s":`, name), text...)
	}
	for _, a := range c.Attributes {
		member(a.Name, a.Value)
	}
	member("datacontenttype", c.ContentType)
	if c.ContentType == jsonType {
		b = append(append(b, `,"data":`...), c.Data...)
	} else {
		member("data", c.Data)
	}
	b[0] = '{' // in the place of the first comma
	return append(b, '}')
}

// cloudTime is a time as RFC 3339 has it, in UTC.
func cloudTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// uriText matches what a URI reference may consist of (RFC 3986, section 2).
// [url.Parse] takes much more than that.
var uriText = regexp.MustCompile(`^([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$`)

// CheckSource returns an error unless a text can be the attribute source of
// CloudEvents: a URI reference as RFC 3986 defines it. Empty stands for
// [DefaultSource].
func CheckSource(source string) error {
	u, err := url.Parse(source)
	brackets := func(text string) int { return strings.Count(text, "[") + strings.Count(text, "]") }
	if err != nil || !uriText.MatchString(source) || strings.Count(source, "#") > 1 || brackets(source) != brackets(u.Host) {
		return fmt.Errorf("%q is no URI reference; use one such as https://example.org/shop, with other characters percent-encoded", source)
	}
	return nil
}
