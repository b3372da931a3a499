package clitest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Background is a run of the program that goes on.
type Background struct {
	t     *testing.T
	Stop  context.CancelFunc // the first signal
	Lines chan string        // of standard error
	Exit  chan int
}

// Start runs the program until Stop is called; it ends with the test.
func (s Shell) Start(t *testing.T, args ...string) *Background {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	b := &Background{t: t, Stop: cancel, Lines: make(chan string, 10_000), Exit: make(chan int, 1)}
	go func() {
		defer close(b.Lines)
		var rest string
		buffer := make([]byte, 4096)
		for {
			n, err := read.Read(buffer)
			parts := strings.Split(rest+string(buffer[:n]), "\n")
			for _, line := range parts[:len(parts)-1] {
				b.Lines <- line
			}
			if rest = parts[len(parts)-1]; err != nil {
				return
			}
		}
	}()
	go func() {
		exit := s.program(ctx, args, io.Discard, write)
		_ = write.Close() // ends the reader
		b.Exit <- exit
	}()
	t.Cleanup(func() {
		cancel()
		for range b.Lines { // until the program has ended
			continue
		}
	})
	return b
}

// WaitFor reads lines up to one that has all the texts.
func (b *Background) WaitFor(texts ...string) {
	b.t.Helper()
	var read []string
	late := time.After(storetest.Patience)
	for {
		select {
		case line, ok := <-b.Lines:
			if read = append(read, line); ok && hasAll(line, texts) {
				return
			} else if !ok {
				b.t.Fatalf("the program ended without a line that has %q:\n%s", texts, strings.Join(read, "\n"))
			}
		case <-late:
			b.t.Fatalf("no line has %q:\n%s", texts, strings.Join(read, "\n"))
		}
	}
}

func hasAll(line string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(line, text) {
			return false
		}
	}
	return true
}
