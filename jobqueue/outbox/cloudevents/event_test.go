package cloudevents_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/cloudevents"
)

func TestCloudEventHasWhatTheEventHas(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 30, 0, 5000, time.UTC)
	e := outbox.Event{
		ID: "e1", Topic: "orders", Type: "order.placed", AggregateID: "o/7", AggregateVersion: 1 << 40,
		Payload: `{"a":1}`, Due: at, Created: at.Add(time.Second),
	}
	const rest = `"time":"2026-03-01T12:30:01.000005Z","topic":"orders","partitionkey":"o/7","aggregateversion":"1099511627776",` +
		`"due":"2026-03-01T12:30:00.000005Z",`
	for _, test := range []struct{ payload, source, want string }{
		{`{"a":1}`, "https://example.org/x", `{"specversion":"1.0","id":"e1","source":"https://example.org/x","type":"order.placed",` +
			`"subject":"o/7",` + rest + `"datacontenttype":"application/json","data":{"a":1}}`},
		{`no "JSON`, "", `{"specversion":"1.0","id":"e1","source":"/nextrun","type":"order.placed",` +
			`"subject":"o/7",` + rest + `"datacontenttype":"text/plain; charset=utf-8","data":"no \"JSON"}`},
		{"\"\xff\"", "", `{"specversion":"1.0","id":"e1","source":"/nextrun","type":"order.placed",` + // args of SQLite can be so
			`"subject":"o/7",` + rest + `"datacontenttype":"text/plain; charset=utf-8","data":"\"\ufffd\""}`},
	} {
		e.Payload = test.payload
		got := cloudevents.New(e, test.source).Structured()
		if string(got) != test.want || !json.Valid(got) {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestCloudEventHasTheTrace(t *testing.T) {
	t.Parallel()
	const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	got := cloudevents.New(outbox.Event{ID: "e", Traceparent: traceparent}, "").Structured()
	var event struct{ Traceparent string }
	if json.Unmarshal(got, &event) != nil || event.Traceparent != traceparent {
		t.Errorf("got %s", got)
	}
}

func TestCloudEventKeepsEveryText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"plain", `quote"`, `back\slash`, "line\nbreak", "tab\t", "\x01\x1f\x7f", "<a>&b", "Grüße", "日本語 🎉", "\u2028", "~ !/{}",
	} {
		got := cloudevents.New(outbox.Event{ID: "e", Type: text, Topic: "t", AggregateID: text, Payload: text}, "").Structured()
		var back struct{ Type, Subject, Data string }
		if err := json.Unmarshal(got, &back); err != nil || back.Type != text || back.Subject != text || back.Data != text {
			t.Errorf("%q came back as %+v, %v, from %s", text, back, err, got)
		}
	}
}

// The CloudEvents SDKs refuse an event whose source is no URI reference.
func TestSourceIsAURIReference(t *testing.T) {
	t.Parallel()
	for source, ok := range map[string]bool{
		"": true, "/nextrun": true, "https://example.org/x?y=z#w": true, "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66": true,
		"mailto:cncf-wg-serverless@lists.cncf.io": true, "1-555-123-4567": true, "a%20b": true, "http://[::1]:80/x": true, "//host": true,
		"not a uri <with> spaces": false, "a b": false, "<x>": false, "a%2": false, "a%zz": false, `a"b`: false, `a\b`: false,
		"a{b}": false, "a|b": false, "a^b": false, "a`b": false, "Grüße": false, "a\n": false, "a\x00": false, "a#b#c": false,
		"1a:b": false, "/x[1]": false, "http://[::1": false, "http://host:port/": false,
	} {
		if err := cloudevents.CheckSource(source); (err == nil) != ok {
			t.Errorf("%q: %v, want it accepted: %t", source, err, ok)
		}
	}
}
