// Package joblog holds what a handler says about its job until that is written to
// the database.
package joblog

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// Bounds of what a handler has logged and nobody has fetched yet.
const (
	MaxLines = 2000
	MaxBytes = 2 << 20
)

// Line is a line with the time at which it was logged.
type Line struct {
	exchange.Line
	At time.Time
}

// Buffer holds what a handler has said about its job, until somebody fetches it. It
// is safe for concurrent use.
type Buffer struct {
	jid    string
	notify func(urgent bool) // there is something to fetch

	mu       sync.Mutex
	room     *sync.Cond
	lines    []Line
	bytes    int
	taken    int // lines fetched so far
	size     int // bytes of all lines so far
	dropped  int // lines beyond the bounds
	progress int
	fetched  int // progress as last fetched
	result   string
	closed   bool // log waits for room no longer
	over     bool // the handler has returned
}

// New returns the buffer of an attempt at a job. It calls notify when there is
// something to fetch: urgently if the handler waits for room. When ctx ends, the
// handler waits no more.
func New(ctx context.Context, jid string, notify func(urgent bool)) *Buffer {
	b := &Buffer{jid: jid, notify: notify}
	b.room = sync.NewCond(&b.mu)
	context.AfterFunc(ctx, b.close)
	return b
}

// close ends all waiting for room, since the attempt is to end.
func (b *Buffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.room.Broadcast()
}

// Log adds a line. It waits while too many lines are not fetched.
func (b *Buffer) Log(level jobqueue.Level, message string) {
	line, at := exchange.NewLine(b.jid, level, message), time.Now()
	b.mu.Lock()
	for b.full(1) && !b.closed {
		b.notify(true)
		b.room.Wait()
	}
	switch {
	case b.over || b.full(2):
	case b.dropped > 0 || b.taken+len(b.lines) >= jobqueue.MaxLogLines || b.size >= jobqueue.MaxLogBytes:
		b.dropped++
	default:
		b.lines = append(b.lines, Line{line, at})
		b.bytes += len(line.Message)
		b.size += len(line.Message)
		defer b.notify(false)
	}
	b.mu.Unlock()
}

func (b *Buffer) full(times int) bool {
	return len(b.lines) >= times*MaxLines || b.bytes >= times*MaxBytes
}

// SetProgress sets how far the job is.
func (b *Buffer) SetProgress(percent int) {
	b.mu.Lock()
	changed := b.progress != percent && !b.over
	if changed {
		b.progress = percent
	}
	b.mu.Unlock()
	if changed {
		b.notify(false)
	}
}

// SetResult sets the message that Finish returns.
func (b *Buffer) SetResult(message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.result = message
	}
}

// Result is the message that Finish would return now.
func (b *Buffer) Result() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.result
}

// Fetch takes the lines, and the progress if it has changed, else -1.
func (b *Buffer) Fetch() (lines []Line, progress int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines, b.lines, b.bytes = b.lines, nil, 0
	b.taken += len(lines)
	progress = -1
	if b.progress != b.fetched {
		progress, b.fetched = b.progress, b.progress
	}
	b.room.Broadcast()
	return lines, progress
}

// Finish ends the log and returns the result; later calls are ignored.
func (b *Buffer) Finish() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over, b.closed = true, true
	if b.dropped > 0 {
		line := exchange.NewLine(b.jid, jobqueue.Warn, fmt.Sprintf("the log of this attempt is full; lines left out: %d", b.dropped))
		b.lines = append(b.lines, Line{line, time.Now()})
	}
	b.room.Broadcast()
	return b.result
}
