package handlers

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
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
	// process that has left the program's group may hold it open for ever. The
	// time in which the job log takes no lines does not count.
	drainTime = time.Second
	// freeLines and bytesPerLine bound the lines of an output, short ones too.
	freeLines    = 100
	bytesPerLine = 16
)

// output reads what a program writes into the job log, line by line, up to a
// number of bytes and lines; the rest is read and counted.
type output struct {
	job     *jobqueue.JobContext
	streams []*stream
	readers sync.WaitGroup

	mu      sync.Mutex
	bytes   int // that still fit
	lines   int // that still fit
	dropped int
	exited  time.Time // of the program; zero: it runs
}

func newOutput(job *jobqueue.JobContext, limit int) *output {
	limit = max(limit, 0)
	return &output{job: job, bytes: limit, lines: limit/bytesPerLine + min(limit, freeLines)}
}

// start starts the program with pipes that are read from now on.
func (o *output) start(cmd *exec.Cmd) error {
	var ends []*os.File
	pipe := func(level jobqueue.Level) (*os.File, error) {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		o.streams = append(o.streams, &stream{output: o, level: level, pipe: read})
		ends = append(ends, write)
		return write, nil
	}
	stdout, err := pipe(jobqueue.Info)
	if err == nil {
		cmd.Stdout = stdout
		cmd.Stderr, err = pipe(jobqueue.Warn)
	}
	if err == nil {
		err = cmd.Start()
	}
	for _, end := range ends {
		_ = end.Close() // the program has its own
	}
	for _, s := range o.streams {
		if err != nil {
			_ = s.pipe.Close()
			continue
		}
		o.readers.Go(s.read)
	}
	return err
}

// drain reads what is left when the program has exited, and says in the job log
// what is missing.
func (o *output) drain() {
	now := time.Now()
	o.mu.Lock()
	o.exited = now
	o.mu.Unlock()
	for _, s := range o.streams {
		_ = s.pipe.SetReadDeadline(now.Add(drainTime)) // the reader may move it
	}
	o.readers.Wait()
	for _, s := range o.streams {
		if s.cut {
			o.job.Logf(jobqueue.Warn, "output was read for %s after the program ended; a process that it left behind still holds it open", drainTime)
			break
		}
	}
	if o.dropped > 0 {
		o.job.Logf(jobqueue.Warn, "%d bytes of output were dropped", o.dropped)
	}
}

func (o *output) exitedAt() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.exited
}

// take reports whether a line still fits. Nothing fits after the first line that
// did not.
func (o *output) take(line string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dropped > 0 || len(line) > o.bytes || o.lines == 0 {
		o.dropped += len(line) + 1
		return false
	}
	o.bytes -= len(line)
	o.lines--
	return true
}

// stream splits one of the program's outputs into lines.
type stream struct {
	output *output
	level  jobqueue.Level
	pipe   *os.File
	rest   []byte
	waited time.Duration // for the job log, since the program has exited
	cut    bool          // not read to its end
}

func (s *stream) read() {
	defer s.pipe.Close() //nolint:errcheck // it was only read
	defer s.flush()
	buffer := make([]byte, 32<<10)
	for {
		n, err := s.pipe.Read(buffer)
		s.write(buffer[:n])
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if exited := s.output.exitedAt(); !exited.IsZero() {
			end := exited.Add(drainTime + s.waited)
			if s.cut = !time.Now().Before(end); s.cut {
				return
			}
			_ = s.pipe.SetReadDeadline(end)
		}
	}
}

func (s *stream) write(p []byte) {
	s.rest = append(s.rest, p...)
	for {
		end := bytes.IndexByte(s.rest, '\n')
		if end < 0 && len(s.rest) <= maxLine {
			return
		}
		next := end + 1
		if end < 0 || end > maxLine {
			end = cut(s.rest)
			next = end
		}
		s.line(string(s.rest[:end]))
		s.rest = s.rest[next:]
	}
}

// line writes a line to the job log, which may have to wait for the database.
func (s *stream) line(line string) {
	line = strings.TrimSuffix(line, "\r")
	if !s.output.take(line) {
		return
	}
	began := time.Now()
	s.output.job.Log(s.level, line)
	if exited := s.output.exitedAt(); !exited.IsZero() {
		s.waited += min(time.Since(began), time.Since(exited))
	}
}

// flush writes a last line that has no end.
func (s *stream) flush() {
	if len(s.rest) > 0 {
		s.line(string(s.rest))
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
