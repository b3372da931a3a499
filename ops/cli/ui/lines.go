package ui

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
)

const (
	mostWaiting = 10_000      // lines that wait for a reader of the log; what comes then is lost
	lastLines   = time.Second // for lines that wait when the process ends
)

// Lines passes lines on without ever making their writer wait or fail: where the log goes may be slow, full or gone.
// It is safe for concurrent use.
type Lines struct {
	to         io.Writer
	notice     func(lost int64) []byte // the line about those that were lost since the last one
	lost       atomic.Int64
	waiting    chan []byte
	pipes      chan os.Signal
	end, ended chan struct{}
}

// NeverWait has what goes to standard error from now on, and the lines of the logger that it returns, go through Lines,
// until [Env.Finish]. A pipe that nobody reads any more does not end the process then, nor do its children inherit that:
// the signal is caught, not ignored.
func (env *Env) NeverWait() (*slog.Logger, *Lines) {
	log := env.lineLogger()
	l := &Lines{
		to: env.Stderr, waiting: make(chan []byte, mostWaiting), pipes: make(chan os.Signal, 1),
		end: make(chan struct{}), ended: make(chan struct{}),
	}
	l.notice = func(lost int64) []byte {
		entry := log.WithContext(context.Background()).WithField("lost", lost)
		entry.Time, entry.Level, entry.Message = time.Now(), logrus.WarnLevel, "log lines were lost: nobody took them"
		line, _ := log.Formatter.Format(entry) // of ours, none fails
		return line
	}
	signal.Notify(l.pipes, syscall.SIGPIPE)
	go l.pass()
	log.SetOutput(l)
	env.Stderr, env.lines = l, l
	return slog.New(handler{logger: log}), l
}

// Finish gives lines that wait to be passed on a last second.
func (env *Env) Finish() {
	if env.lines != nil {
		env.lines.close()
	}
}

// Lost is how many lines were lost.
func (l *Lines) Lost() int64 { return l.lost.Load() }

// Write takes a line. It never fails.
func (l *Lines) Write(line []byte) (int, error) {
	select {
	case l.waiting <- bytes.Clone(line):
	default:
		l.lost.Add(1)
	}
	return len(line), nil
}

// pass passes lines on until the end, and then those that still wait.
func (l *Lines) pass() {
	defer close(l.ended)
	said := int64(0)
	for {
		select {
		case line := <-l.waiting:
			if lost := l.Lost(); lost > said && l.put(l.notice(lost-said)) {
				said = lost
			}
			if !l.put(line) {
				l.lost.Add(1)
			}
		case <-l.end:
			if len(l.waiting) == 0 {
				return
			}
		}
	}
}

func (l *Lines) put(line []byte) bool {
	_, err := l.to.Write(line)
	return err == nil
}

func (l *Lines) close() {
	close(l.end)
	select {
	case <-l.ended:
		signal.Stop(l.pipes)
	case <-time.After(lastLines): // the signal stays caught: a late write must not end the process otherwise than it ends
	}
}
