package handlers

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/nextrun/nextrun/jobqueue"
)

// maxLine is where a line of output is cut in two.
const maxLine = 16 << 10

// output writes what a program says to the job log, line by line, up to a
// number of bytes; the rest is counted.
type output struct {
	job     *jobqueue.JobContext
	mu      sync.Mutex
	left    int
	dropped int
	streams []*stream
}

func newOutput(job *jobqueue.JobContext, limit int) *output {
	return &output{job: job, left: max(limit, 0)}
}

// stream returns a writer for one of the program's outputs.
func (o *output) stream(level jobqueue.Level) io.Writer {
	s := &stream{output: o, level: level}
	o.streams = append(o.streams, s)
	return s
}

// close writes lines that have no end, and tells how much was dropped.
func (o *output) close() {
	for _, s := range o.streams {
		s.flush()
	}
	if o.dropped > 0 {
		o.job.Logf(jobqueue.Warn, "%d bytes of output were dropped", o.dropped)
	}
}

func (o *output) line(level jobqueue.Level, line string) {
	line = strings.TrimSuffix(line, "\r")
	o.mu.Lock()
	fits := len(line) <= o.left
	if fits {
		o.left -= len(line)
	} else {
		o.dropped += len(line)
		o.left = 0 // nothing after the first line that is missing
	}
	o.mu.Unlock()
	if fits {
		o.job.Log(level, line)
	}
}

// stream splits an output into lines.
type stream struct {
	output *output
	level  jobqueue.Level
	rest   []byte
}

// Write implements [io.Writer]. It never fails, so that the program never sees
// a broken pipe.
func (s *stream) Write(p []byte) (int, error) {
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
		s.output.line(s.level, string(s.rest[:end]))
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

func (s *stream) flush() {
	if len(s.rest) > 0 {
		s.output.line(s.level, string(s.rest))
		s.rest = nil
	}
}
