package main_test

import (
	"bytes"
	"strings"
	"sync"
)

// output keeps what a process writes, but for the lines of things that go well. It may be
// read while the process writes.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	rest []byte // of a line that is not complete
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
		if o.rest = rest; !bytes.Contains(line, []byte(" INFO  ")) {
			o.text.WriteString(string(line) + "\n")
		}
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
