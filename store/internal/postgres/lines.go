package postgres

import (
	"cmp"
	"context"
	"net"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

const (
	// answerGrace is how much longer than a statement may take an answer may.
	answerGrace = 10 * time.Second
	// LastMoment is how long an answer may take whose asker has given up: a server that lives cancels the statement
	// within it, and the connection stays good.
	LastMoment = 250 * time.Millisecond
	// doubt is how long an answer may take on a connection that may be dead.
	doubt = 2 * time.Second
)

// Patience is how long an answer may take on a pool with this timeout of statements (0: the default): one that has not come
// by then will not come. The system itself notices a silent network after a quarter of an hour, or never.
func Patience(statementTimeout time.Duration) time.Duration {
	return cmp.Or(statementTimeout, sqldb.DefaultStatementTimeout) + answerGrace
}

// Lines are the connections of a pool. They are safe for concurrent use.
type Lines struct {
	Patience time.Duration // 0: a statement may take any time

	mu   sync.Mutex
	open map[*Line]bool
}

// Line is a connection on which no wait for an answer is without a limit. Its methods are safe for concurrent use.
type Line struct {
	net.Conn
	lines *Lines

	mu       sync.Mutex
	turn     int // counts the statements
	unwatch  func() bool
	doubtful bool
}

// Open returns a connection that was made.
func (s *Lines) Open(conn net.Conn) *Line {
	l := &Line{Conn: conn, lines: s, unwatch: func() bool { return true }}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*Line]bool{}
	}
	s.open[l] = true
	return l
}

// Doubt says that one connection was found to be silent, so that all others may be, too, if new ones work: what waits on
// them gets a little more time, and they are not used again.
func (s *Lines) Doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.open {
		l.mu.Lock()
		l.doubtful = true
		l.wait(doubt)
		l.mu.Unlock()
	}
}

// Ask begins the wait for the answer to a statement, the end of ctx shortens it.
func (l *Line) Ask(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unwatch()
	l.turn++
	turn := l.turn
	switch {
	case l.doubtful:
		l.wait(doubt)
	case l.lines.Patience > 0:
		l.wait(l.lines.Patience)
	default:
		_ = l.SetDeadline(time.Time{})
	}
	l.unwatch = context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.turn == turn {
			l.wait(LastMoment)
		}
	})
}

// wait lets what waits now wait so long at most.
func (l *Line) wait(most time.Duration) { _ = l.SetDeadline(time.Now().Add(most)) } // fails if it is closed: nobody waits then

// Doubtful reports whether the connection should not be used again.
func (l *Line) Doubtful() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doubtful
}

// Forget ends the care for a connection, which goes back to a pool of somebody else's. What is doubtful is closed.
func (l *Line) Forget() {
	l.mu.Lock()
	l.unwatch()
	l.turn++
	_ = l.SetDeadline(time.Time{})
	if l.doubtful {
		_ = l.Conn.Close()
	}
	l.mu.Unlock()
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	delete(l.lines.open, l)
}

// Close implements [net.Conn].
func (l *Line) Close() error {
	err := l.Conn.Close()
	l.Forget()
	return err
}
