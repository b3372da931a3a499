//go:build linux

package process

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// processLog is a file with what a process says, and knows some of its words.
type processLog struct {
	file *os.File
	mu   sync.Mutex
	said map[string]bool
}

var words = []string{"started", "panic:", "fatal error:"}

func openLog(name, about string) (*processLog, error) {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(file, "---- %s: %s\n", time.Now().UTC().Format("15:04:05.000"), about)
	return &processLog{file: file, said: map[string]bool{}}, err
}

// Write implements [io.Writer].
func (l *processLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	for _, w := range words {
		if bytes.Contains(text, []byte(w)) {
			l.said[w] = true
		}
	}
	l.mu.Unlock()
	return l.file.Write(text)
}

func (l *processLog) has(word string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said[word]
}
