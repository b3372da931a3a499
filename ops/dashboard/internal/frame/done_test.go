package frame

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
)

// An action that is repeated many times in a second has few lines, and they say how many there were.
func TestRepeatedActionsAreCounted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	var a acted
	a.tell(log, "ada", "paused x")
	for range 1000 {
		a.tell(log, "ada", "woke the scheduler")
	}
	a.tell(log, "bob", "woke the scheduler")
	lines, counted := 0, 0
	for decoder := json.NewDecoder(&out); decoder.More(); lines++ {
		var line struct {
			Repeated int `json:"repeated_before"`
		}
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		counted += line.Repeated
	}
	if lines > 10 || lines+counted != 1002 {
		t.Errorf("%d lines, which count %d more", lines, counted)
	}
}
