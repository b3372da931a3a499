package relay_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// stream appends events to topics in turn, and measures how late they come.
type stream struct {
	mu    sync.Mutex
	sent  map[string]time.Time
	takes []time.Duration
}

func (s *stream) receive(_ context.Context, e outbox.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.sent[e.AggregateID]; ok {
		s.takes = append(s.takes, time.Since(at))
		delete(s.sent, e.AggregateID)
	}
	return nil
}

// again forgets what was sent.
func (s *stream) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent, s.takes = map[string]time.Time{}, nil
}

func (s *stream) late() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	late := slices.Clone(s.takes)
	for _, at := range s.sent {
		late = append(late, time.Since(at))
	}
	return late
}

// send appends n events from a number on, one every 25 ms, to 20 topics in turn.
func (f *fixture) send(from, n int, s *stream) {
	f.Helper()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for i := from; i < from+n; i++ {
		<-tick.C
		id := fmt.Sprintf("healthy-%d", i)
		s.mu.Lock()
		s.sent[id] = time.Now()
		s.mu.Unlock()
		f.append(outbox.Event{Topic: fmt.Sprintf("healthy%d", i%20), Type: "x", AggregateID: id})
	}
}
