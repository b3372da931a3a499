package jobqueue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/text"
)

// recorder keeps what a handler says, for tests.
type recorder struct {
	mu   sync.Mutex
	said Record
}

// Log implements [Reporter].
func (r *recorder) Log(level Level, message string) {
	message = text.Clean(message, MaxMessage)
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.said.Lines); n < MaxLogLines {
		r.said.Lines = append(r.said.Lines, LogLine{Counter: int64(n + 1), Created: time.Now().UTC(), Level: level, Message: message})
	}
}

// SetProgress implements [Reporter].
func (r *recorder) SetProgress(percent int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said.Progress = percent
}

// SetResult implements [Reporter].
func (r *recorder) SetResult(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said.Result = message
}

// Complete implements [Reporter].
func (r *recorder) Complete(context.Context, DBTX) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said.Completed = true
	return nil
}

func (r *recorder) record() Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	said := r.said
	said.Lines = slices.Clone(said.Lines)
	return said
}
