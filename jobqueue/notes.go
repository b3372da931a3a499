package jobqueue

import (
	"context"
	"slices"
	"sync"
	"time"
)

// MaxMessage is the greatest length of a line of the job log, and of a result.
const MaxMessage = 64 << 10

// Bounds of what an attempt has told and is not yet written.
const (
	maxLines     = 2000
	maxLineBytes = 2 << 20
)

func cleanMessage(message string) string { return shorten(cleanText(message), MaxMessage) }

// newLine makes a line that both databases can hold; a level that is not one of
// [Levels] counts as info.
func newLine(jid string, level Level, message string) Line {
	if !slices.Contains(Levels(), level) {
		level = Info
	}
	return Line{ID: NewID(), JID: jid, Level: level, Message: cleanMessage(message)}
}

// dated is a line with the time at which it was written.
type dated struct {
	Line
	at time.Time
}

// notes are what a handler has told of its job and the loop has yet to fetch.
type notes struct {
	mu       sync.Mutex
	room     *sync.Cond
	tell     func(urgent bool) // there is something to fetch
	lines    []dated
	bytes    int
	progress int
	told     int // progress as last fetched
	result   string
	closed   bool // nobody waits for room any more
	over     bool // the handler has returned
}

func newNotes(ctx context.Context, tell func(urgent bool)) *notes {
	n := &notes{tell: tell}
	n.room = sync.NewCond(&n.mu)
	context.AfterFunc(ctx, n.close)
	return n
}

// close lets nobody wait any more: the attempt is to end.
func (n *notes) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.room.Broadcast()
}

func (n *notes) log(line Line) {
	at := time.Now()
	n.mu.Lock()
	for n.full(1) && !n.closed {
		n.tell(true)
		n.room.Wait()
	}
	if n.over || n.full(2) {
		n.mu.Unlock()
		return
	}
	n.lines = append(n.lines, dated{line, at})
	n.bytes += len(line.Message)
	n.mu.Unlock()
	n.tell(false)
}

func (n *notes) full(times int) bool {
	return len(n.lines) >= times*maxLines || n.bytes >= times*maxLineBytes
}

func (n *notes) setProgress(percent int) {
	n.mu.Lock()
	changed := n.progress != percent && !n.over
	if changed {
		n.progress = percent
	}
	n.mu.Unlock()
	if changed {
		n.tell(false)
	}
}

func (n *notes) setResult(message string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.over {
		n.result = message
	}
}

// fetch takes the lines, and the progress if it has changed, else -1.
func (n *notes) fetch() (lines []dated, progress int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines, n.lines, n.bytes = n.lines, nil, 0
	progress = -1
	if n.progress != n.told {
		progress, n.told = n.progress, n.progress
	}
	n.room.Broadcast()
	return lines, progress
}

// finish takes no more, and returns the result.
func (n *notes) finish() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over, n.closed = true, true
	n.room.Broadcast()
	return n.result
}
