package hostile_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// receiver takes the calls of jobs and of the relay, and notes how late those of healthy
// rows are.
type receiver struct {
	url string

	mu       sync.Mutex
	lateness map[string][]time.Duration // by the kind of call; nil: not measured
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *receiver) serve(w http.ResponseWriter, request *http.Request) {
	kind, due := "job", request.Header.Get("Nextrun-Due")
	body, _ := io.ReadAll(request.Body)
	if request.URL.Path == "/event" {
		var event struct{ Due string }
		_ = json.Unmarshal(body, &event)
		kind, due = "event", event.Due
	}
	if at, err := time.Parse(time.RFC3339Nano, due); err == nil && strings.Contains(string(body), "healthy-") {
		r.mu.Lock()
		if r.lateness != nil {
			r.lateness[kind] = append(r.lateness[kind], time.Since(at))
		}
		r.mu.Unlock()
	}
	w.WriteHeader(http.StatusNoContent)
}

// measure begins to measure anew, and returns what was measured until now, in order.
func (r *receiver) measure() map[string][]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	measured := r.lateness
	r.lateness = map[string][]time.Duration{}
	for _, list := range measured {
		slices.Sort(list)
	}
	return measured
}

// at is what a share of the calls did not exceed.
func at(list []time.Duration, share float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	return list[int(share*float64(len(list)-1))].Round(time.Millisecond)
}
