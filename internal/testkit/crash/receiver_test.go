//go:build crashpoints && linux

package crash_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowJob is how long a slow job runs: longer than the time between two ticks.
const slowJob = 1200 * time.Millisecond

// receiver is what the processes call: the work of jobs, and the receivers of events and
// of hooks. It keeps count by itself.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	jobs     map[string]int              // calls by the id of the job
	events   map[string]int              // deliveries by the topic and the id of the event
	versions map[string]map[string][]int // by topic and aggregate, in the order of their first arrival
	hooks    map[string]int              // deliveries by the id of the notice
	notified int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{jobs: map[string]int{}, events: map[string]int{}, versions: map[string]map[string][]int{}, hooks: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/job/{how}", r.job)
	mux.HandleFunc("/event/{how}", r.event)
	mux.HandleFunc("/hook", r.hook)
	mux.HandleFunc("/notify", func(http.ResponseWriter, *http.Request) { r.note(func() { r.notified++ }) })
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) note(what func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	what()
}

func (r *receiver) job(w http.ResponseWriter, q *http.Request) {
	calls := 0
	r.note(func() {
		jid := q.Header.Get("Nextrun-Job-Id")
		r.jobs[jid]++
		calls = r.jobs[jid]
	})
	switch how := q.PathValue("how"); {
	case how == "slow":
		select {
		case <-time.After(slowJob):
		case <-q.Context().Done():
		}
	case how == "broken":
		w.WriteHeader(http.StatusBadRequest)
	case how == "fragile" && calls == 1:
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (r *receiver) event(w http.ResponseWriter, q *http.Request) {
	var e struct {
		ID, Type         string
		PartitionKey     string
		AggregateVersion string
	}
	if err := json.NewDecoder(q.Body).Decode(&e); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	topic, calls := q.PathValue("how"), 0
	r.note(func() {
		r.events[topic+"/"+e.ID]++
		calls = r.events[topic+"/"+e.ID]
		if r.versions[topic] == nil {
			r.versions[topic] = map[string][]int{}
		}
		if version, err := strconv.Atoi(e.AggregateVersion); calls == 1 && err == nil {
			r.versions[topic][e.PartitionKey] = append(r.versions[topic][e.PartitionKey], version)
		}
	})
	switch {
	case topic == "refused":
		w.WriteHeader(http.StatusBadRequest)
	case topic == "flaky" && calls == 1:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (r *receiver) hook(_ http.ResponseWriter, q *http.Request) {
	var n struct{ ID string }
	if json.NewDecoder(q.Body).Decode(&n) == nil {
		r.note(func() { r.hooks[n.ID]++ })
	}
}

func (r *receiver) heardOf(id string) (jobs, events, hooks int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[id], r.events[id], r.hooks[id]
}

// disorder names an aggregate whose events came in another order than they happened.
func (r *receiver) disorder() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for topic, aggregates := range r.versions {
		for aggregate, versions := range aggregates {
			for i, v := range versions {
				if i > 0 && v != versions[i-1]+1 {
					found = append(found, topic+" "+aggregate+": "+strconv.Itoa(v)+" after "+strconv.Itoa(versions[i-1]))
				}
			}
		}
	}
	return strings.Join(found, ", ")
}
