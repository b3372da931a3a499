package executor

import (
	"fmt"
	"sync"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// logLine is a line with the time at which it was logged.
type logLine struct {
	exchange.Line
	at time.Time
}

// jobLog holds what a handler has said about its job, until the loop fetches it. It
// is safe for concurrent use.
type jobLog struct {
	jid string

	mu       sync.Mutex
	lines    []logLine
	kept     int // lines of the attempt so far
	bytes    int // of all of these
	dropped  int // lines beyond the bounds
	progress int
	fetched  int // progress as last fetched
	result   string
	over     bool // the handler has returned
}

// Log implements [jobqueue.Reporter].
func (b *jobLog) Log(level jobqueue.Level, message string) {
	line := logLine{exchange.NewLine(b.jid, level, message), time.Now()}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.over:
	case b.dropped > 0 || b.kept >= jobqueue.MaxLogLines || b.bytes >= jobqueue.MaxLogBytes:
		b.dropped++
	default:
		b.lines = append(b.lines, line)
		b.kept++
		b.bytes += len(line.Message)
	}
}

// SetProgress implements [jobqueue.Reporter].
func (b *jobLog) SetProgress(percent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.progress = percent
	}
}

// SetResult implements [jobqueue.Reporter].
func (b *jobLog) SetResult(message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.result = message
	}
}

// said is the result so far.
func (b *jobLog) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.result
}

// fetch takes the lines, and the progress if it has changed, else -1.
func (b *jobLog) fetch() (lines []logLine, progress int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines, b.lines = b.lines, nil
	progress = -1
	if b.progress != b.fetched {
		progress, b.fetched = b.progress, b.progress
	}
	return lines, progress
}

// finish ends the log and returns the result; later calls are ignored.
func (b *jobLog) finish() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.dropped > 0 {
		line := exchange.NewLine(b.jid, jobqueue.Warn, fmt.Sprintf("the log of this attempt is full; lines left out: %d", b.dropped))
		b.lines = append(b.lines, logLine{line, time.Now()})
	}
	return b.result
}
