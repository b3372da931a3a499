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
// bytes and lines; the rest is counted. It keeps lines until the log takes them, which
// may have to wait for the database: the program never does.
type output struct {
	job    *jobqueue.JobContext
	logged sync.WaitGroup
	more   *sync.Cond

	mu      sync.Mutex
	bytes   int // that still fit
	lines   int // that still fit
	dropped int
	waiting []line
	ended   bool
}

type line struct {
	level jobqueue.Level
	text  string
}

// newOutput begins to log what the streams will be given, until end is called.
func newOutput(job *jobqueue.JobContext, limit int) *output {
	limit = max(limit, 0)
	o := &output{job: job, bytes: limit, lines: limit/bytesPerLine + min(limit, freeLines)}
	o.more = sync.NewCond(&o.mu)
	o.logged.Go(o.log)
	return o
}

// log writes lines to the job log as they come.
func (o *output) log() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for len(o.waiting) == 0 {
			if o.ended {
				return
			}
			o.more.Wait()
		}
		lines := o.waiting
		o.waiting = nil
		o.mu.Unlock()
		for _, l := range lines {
			o.job.Log(l.level, l.text)
		}
		o.mu.Lock()
	}
}

// end waits until the log has what was written, and says how much of it is missing.
func (o *output) end(streams ...*stream) {
	o.mu.Lock()
	for _, s := range streams {
		if len(s.rest) > 0 { // a last line that has no end
			o.take(s.level, string(s.rest))
		}
	}
	o.ended = true
	o.more.Signal()
	o.mu.Unlock()
	o.logged.Wait()
	if o.dropped > 0 {
		o.job.Logf(jobqueue.Warn, "%d bytes of output were dropped", o.dropped)
	}
}

// take keeps a line if it still fits. Nothing fits after the first line that did not.
func (o *output) take(level jobqueue.Level, text string) {
	text = strings.TrimSuffix(text, "\r")
	if o.dropped > 0 || len(text) > o.bytes || o.lines == 0 {
		o.dropped += len(text) + 1
		return
	}
	o.bytes -= len(text)
	o.lines--
	o.waiting = append(o.waiting, line{level, text})
	o.more.Signal()
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
