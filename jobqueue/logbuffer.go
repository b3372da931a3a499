package jobqueue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nextrun/nextrun/jobqueue/backend"
)

// Bounds of what a handler has logged and the loop has not written yet.
const (
	maxLines     = 2000
	maxLineBytes = 2 << 20
)

// Bounds of the log of one attempt.
const (
	MaxLogLines = 100_000
	MaxLogBytes = 64 << 20
)

// timedLine is a line with the time at which it was logged.
type timedLine struct {
	backend.Line
	at time.Time
}

// logBuffer holds what a handler has said about its job, until the loop fetches
// it.
type logBuffer struct {
	notify func(urgent bool) // there is something to fetch
	keep   bool              // nobody fetches: keep all lines

	mu       sync.Mutex
	room     *sync.Cond
	lines    []timedLine
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

func newLogBuffer(ctx context.Context, notify func(urgent bool)) *logBuffer {
	b := &logBuffer{notify: notify}
	b.room = sync.NewCond(&b.mu)
	context.AfterFunc(ctx, b.close)
	return b
}

// close ends all waiting for room, since the attempt is to end.
func (b *logBuffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.room.Broadcast()
}

func (b *logBuffer) log(line backend.Line) {
	at := time.Now()
	b.mu.Lock()
	for b.full(1) && !b.closed {
		b.notify(true)
		b.room.Wait()
	}
	switch {
	case b.over || b.full(2):
	case b.dropped > 0 || b.taken+len(b.lines) >= MaxLogLines || b.size >= MaxLogBytes:
		b.dropped++
	default:
		b.lines = append(b.lines, timedLine{line, at})
		b.bytes += len(line.Message)
		b.size += len(line.Message)
		defer b.notify(false)
	}
	b.mu.Unlock()
}

func (b *logBuffer) full(times int) bool {
	return !b.keep && (len(b.lines) >= times*maxLines || b.bytes >= times*maxLineBytes)
}

func (b *logBuffer) setProgress(percent int) {
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

func (b *logBuffer) setResult(message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.result = message
	}
}

// record is what was said so far and not fetched.
func (b *logBuffer) record() Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := Record{Progress: b.progress, Result: b.result}
	for i, line := range b.lines {
		r.Lines = append(r.Lines, LogLine{Counter: int64(i + 1), Created: line.at.UTC(), Level: line.Level, Message: line.Message})
	}
	return r
}

// fetch takes the lines, and the progress if it has changed, else -1.
func (b *logBuffer) fetch() (lines []timedLine, progress int) {
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

// finish ends the log and returns the result; later calls are ignored.
func (b *logBuffer) finish(jid string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over, b.closed = true, true
	if b.dropped > 0 {
		line := backend.NewLine(jid, Warn, fmt.Sprintf("the log of this attempt is full: %d more lines were left out", b.dropped))
		b.lines = append(b.lines, timedLine{line, time.Now()})
	}
	b.room.Broadcast()
	return b.result
}
