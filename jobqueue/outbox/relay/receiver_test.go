package relay_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// receiver keeps what it is given, and fails as it is told.
type receiver struct {
	mu       sync.Mutex
	got      []outbox.Event // all of it, with repetitions
	seen     map[string]bool
	failing  float64 // share of events that it does not accept
	lying    float64 // share of these that it keeps nevertheless
	down     bool
	changed  chan struct{}
	verdicts map[string]error // by event id
}

func newReceiver() *receiver {
	return &receiver{seen: map[string]bool{}, changed: make(chan struct{}, 1), verdicts: map[string]error{}}
}

var errReceiver = errors.New("the receiver has failed")

// receive takes an event, or says why not.
func (r *receiver) receive(_ context.Context, e outbox.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	failing := r.down || rand.Float64() < r.failing
	if err := r.verdicts[e.ID]; err != nil {
		return err
	}
	if !failing || !r.down && rand.Float64() < r.lying {
		r.got = append(r.got, e)
		r.seen[e.ID] = true
		select {
		case r.changed <- struct{}{}:
		default:
		}
	}
	if failing {
		return errReceiver
	}
	return nil
}

func (r *receiver) publisher() outbox.Publisher { return outbox.OneByOne(r.receive) }

func (r *receiver) set(change func(*receiver)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

// await waits until n different events have come.
func (r *receiver) await(t testing.TB, n int) {
	t.Helper()
	timeout := time.After(storetest.Patience)
	for {
		r.mu.Lock()
		have := len(r.seen)
		r.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-r.changed:
		case <-timeout:
			t.Fatalf("%d of %d events came", have, n)
		}
	}
}

// check fails unless each event came, and those of a topic came for the first
// time in the order of want. Repetitions are known by the id.
func (r *receiver) check(t testing.TB, want []outbox.Event) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted, first := map[string][]string{}, map[string][]string{}
	for _, e := range want {
		wanted[e.Topic] = append(wanted[e.Topic], e.ID)
	}
	seen := map[string]bool{}
	for _, e := range r.got {
		if !seen[e.ID] {
			seen[e.ID] = true
			first[e.Topic] = append(first[e.Topic], e.ID)
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(wanted)) {
		if !slices.Equal(first[topic], wanted[topic]) {
			t.Errorf("topic %s came out of order or not whole:\n got  %d %v\n want %d %v",
				topic, len(first[topic]), first[topic], len(wanted[topic]), wanted[topic])
		}
	}
	if len(first) != len(wanted) {
		t.Errorf("events came of topics %v, want %v", slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(wanted)))
	}
}

// repetitions is how many events came more than once.
func (r *receiver) repetitions() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got) - len(r.seen)
}
