package relay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// readCloudEvent is a receiver's view of a request: the specification, not the
// code that is tested.
func readCloudEvent(r *http.Request) (outbox.Event, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return outbox.Event{}, err
	}
	attributes := map[string]string{}
	payload := string(body)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/cloudevents+json") {
		var envelope map[string]json.RawMessage
		if err := json.Unmarshal(body, &envelope); err != nil {
			return outbox.Event{}, err
		}
		payload = string(envelope["data"])
		delete(envelope, "data")
		for name, raw := range envelope {
			var value string
			if err := json.Unmarshal(raw, &value); err != nil {
				return outbox.Event{}, fmt.Errorf("attribute %s: %w", name, err)
			}
			attributes[name] = value
		}
	}
	for name := range r.Header {
		if attribute, ok := strings.CutPrefix(strings.ToLower(name), "ce-"); ok {
			if attributes[attribute], err = url.PathUnescape(r.Header.Get(name)); err != nil {
				return outbox.Event{}, err
			}
		}
	}
	for _, name := range []string{"id", "source", "type"} {
		if attributes[name] == "" || attributes["specversion"] != "1.0" {
			return outbox.Event{}, fmt.Errorf("no attribute %s, or no specversion 1.0, in %v", name, attributes)
		}
	}
	version, err := strconv.ParseInt(attributes["aggregateversion"], 10, 64)
	return outbox.Event{
		ID: attributes["id"], Topic: attributes["topic"], Type: attributes["type"],
		AggregateID: attributes["subject"], AggregateVersion: version, Payload: payload,
	}, err
}
