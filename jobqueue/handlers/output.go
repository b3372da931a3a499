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

// output is what a program writes, for the job log, line by line. Of a long one it has the first lines, up to half of what
// fits, and the last ones, of which neither stream takes more than half from the other.
type output struct {
	job            *jobqueue.JobContext
	stdout, stderr *stream

	mu     sync.Mutex
	half   room // what the first lines leave
	left   room // that nothing has taken
	beyond int  // lines that were none of the first
}

// room is how much fits.
type room struct{ bytes, lines int }

func newOutput(job *jobqueue.JobContext, limit int) *output {
	limit = max(limit, 0)
	all := room{limit, limit/bytesPerLine + min(limit, freeLines)}
	o := &output{job: job, left: all, half: room{all.bytes / 2, all.lines / 2}}
	o.stdout = &stream{output: o, name: "standard output", level: jobqueue.Info}
	o.stderr = &stream{output: o, name: "standard error", level: jobqueue.Warn}
	return o
}

// end takes last lines that have no end, and logs the last lines in the order in which they came.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range []*stream{o.stdout, o.stderr} {
		if len(s.rest) > 0 {
			s.take(string(s.rest))
		}
	}
	for len(o.stdout.last)+len(o.stderr.last) > 0 {
		next := o.stdout
		if len(next.last) == 0 || len(o.stderr.last) > 0 && o.stderr.last[0].number < next.last[0].number {
			next = o.stderr
		}
		next.sayDropped()
		o.job.Log(next.level, next.last[0].text)
		next.last = next.last[1:]
	}
	o.stdout.sayDropped()
	o.stderr.sayDropped()
}

// stream is standard output or standard error.
type stream struct {
	output *output
	name   string
	level  jobqueue.Level
	rest   []byte // of a line that has no end yet

	last    []line // that may be the last ones of the output
	held    int    // bytes of last
	dropped int    // bytes of the lines before last
}

// line is a line that is none of the first.
type line struct {
	number int
	text   string
}

// take logs a line that is one of the first. Others it keeps, and drops older ones for them.
func (s *stream) take(text string) {
	text = strings.TrimSuffix(text, "\r")
	o := s.output
	o.left.bytes -= len(text)
	o.left.lines--
	if o.beyond == 0 && o.left.bytes >= o.half.bytes && o.left.lines >= o.half.lines {
		o.job.Log(s.level, text)
		return
	}
	o.beyond++
	s.last = append(s.last, line{o.beyond, text})
	s.held += len(text)
	for o.left.bytes < 0 || o.left.lines < 0 {
		if o.stdout.weight() > o.stderr.weight() {
			o.stdout.drop()
		} else {
			o.stderr.drop()
		}
	}
}

// weight is how much of the room a stream has.
func (s *stream) weight() int { return s.held + len(s.last)*bytesPerLine }

// drop drops the oldest line that is kept.
func (s *stream) drop() {
	size := len(s.last[0].text)
	s.last = s.last[1:]
	s.held -= size
	s.dropped += size + 1
	s.output.left.bytes += size
	s.output.left.lines++
}

// sayDropped says, once, how much is missing here.
func (s *stream) sayDropped() {
	if s.dropped > 0 {
		s.output.job.Logf(jobqueue.Warn, "%d bytes of %s are left out here", s.dropped, s.name)
		s.dropped = 0
	}
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
		s.take(string(s.rest[:end]))
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
