package main_test

import (
	"strings"
	"sync"
)

// output is all that a process writes. It may be read while the process writes.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// addresses are those that the process says it listens at.
func (o *output) addresses() (list []string) {
	for _, word := range strings.Fields(o.String()) {
		if _, address, found := strings.Cut(word, "address="); found {
			list = append(list, strings.Trim(address, `"`))
		}
	}
	return list
}
