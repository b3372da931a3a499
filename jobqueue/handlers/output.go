package handlers

import (
	"bytes"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/jobqueue"
)

const (
	// maxLine is where a line of output is cut in two.
	maxLine = 16 << 10
	// drainTime is how long the output is read after the program has exited: a
	// process that has left the program's group may hold it open for ever.
	drainTime = time.Second
	// freeLines and bytesPerLine bound the lines of an output, short ones too.
	freeLines    = 100
	bytesPerLine = 16
)

// output is what a program writes, for the job log: line by line, up to a number of
// bytes and lines; the rest is counted.
type output struct {
	job *jobqueue.JobContext

	mu      sync.Mutex
	bytes   int // that still fit
	lines   int // that still fit
	dropped int
}

func newOutput(job *jobqueue.JobContext, limit int) *output {
	limit = max(limit, 0)
	return &output{job: job, bytes: limit, lines: limit/bytesPerLine + min(limit, freeLines)}
}

// end takes last lines that have no end, and says how much is missing.
func (o *output) end(streams ...*stream) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range streams {
		if len(s.rest) > 0 {
			o.take(s.level, string(s.rest))
		}
	}
	if o.dropped > 0 {
		o.job.Logf(jobqueue.Warn, "%d bytes of output were dropped", o.dropped)
	}
}

// take logs a line if it still fits. Nothing fits after the first line that did not.
func (o *output) take(level jobqueue.Level, text string) {
	text = strings.TrimSuffix(text, "\r")
	if o.dropped > 0 || len(text) > o.bytes || o.lines == 0 {
		o.dropped += len(text) + 1
		return
	}
	o.bytes -= len(text)
	o.lines--
	o.job.Log(level, text)
}

// stream is standard output or standard error.
type stream struct {
	output *output
	level  jobqueue.Level
	rest   []byte // of a line that has no end yet
}

// Write takes the lines that have an end, and cuts those that are too long.
func (s *stream) Write(p []byte) (int, error) {
	s.output.mu.Lock()
	defer s.output.mu.Unlock()
	s.rest = append(s.rest, p...)
	for {
		end := bytes.IndexByte(s.rest, '\n')
		if end < 0 && len(s.rest) <= maxLine {
			return len(p), nil
		}
		next := end + 1
		if end < 0 || end > maxLine {
			end = cut(s.rest)
			next = end
		}
		s.output.take(s.level, string(s.rest[:end]))
		s.rest = s.rest[next:]
	}
}

// cut is where to cut a line that is longer than maxLine: between characters.
func cut(line []byte) int {
	for end := maxLine; end > maxLine-utf8.UTFMax; end-- {
		if utf8.RuneStart(line[end]) {
			return end
		}
	}
	return maxLine // it is no text
}
