package main_test

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/storetest"
)

// output keeps what a process writes, but for the lines of things that go well, and
// notices when the process has started. It may be shared by processes that follow each
// other, and be read while one writes.
type output struct {
	mu      sync.Mutex
	text    strings.Builder
	rest    []byte // of a line that is not complete
	started bool   // the last one: it takes signals, and all of its parts are healthy
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = append(o.rest, p...)
	for {
		line, rest, complete := bytes.Cut(o.rest, []byte("\n"))
		if !complete {
			return len(p), nil
		}
		o.rest = rest
		_, message, info := strings.Cut(string(line), " INFO  ")
		if !info {
			o.text.WriteString(string(line) + "\n")
		}
		o.started = o.started || strings.HasPrefix(message, "started ")
	}
}

// again is called before another process writes.
func (o *output) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest, o.started = nil, false
}

func (o *output) hasStarted() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.started
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// until waits for something that other processes do.
func (s *soak) until(what string, is func() bool) {
	s.Helper()
	for deadline := time.Now().Add(storetest.Patience); !is(); s.wait(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			for name, out := range s.output {
				s.Logf("%s:\n%s", name, out)
			}
			s.Fatalf("waited %s for %s", storetest.Patience, what)
		}
	}
}
