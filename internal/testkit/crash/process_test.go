//go:build crashpoints && linux

package crash_test

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/crash"
)

// process is a running nextrun.
type process struct {
	command *exec.Cmd
	name    string
	started chan struct{} // closed: it has said so
	reached chan struct{} // closed: it ends or stops itself
	ended   chan struct{} // closed: it has ended
	err     error         // why, once it has
	steps   int           // that it made until then, if it ended by itself

	mu    sync.Mutex
	lines []string
}

// start starts a command whose output is kept.
func start(t *testing.T, name string, c *exec.Cmd) *process {
	t.Helper()
	p := &process{command: c, name: name, started: make(chan struct{}), reached: make(chan struct{}), ended: make(chan struct{})}
	out, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := sync.OnceFunc(func() { close(p.started) })
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			p.mu.Lock()
			p.lines = append(p.lines, lines.Text())
			p.mu.Unlock()
			switch text := lines.Text(); {
			case text == crash.Reached:
				close(p.reached)
			case strings.HasPrefix(text, crash.Steps):
				p.steps, _ = strconv.Atoi(strings.TrimPrefix(text, crash.Steps))
			case strings.Contains(text, " started "):
				said()
			}
		}
		p.err = c.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	return p
}

// hasReached reports whether the process has come to its step.
func (p *process) hasReached() bool { return isClosed(p.reached) }

func (p *process) hasStarted() bool { return isClosed(p.started) }
func (p *process) hasEnded() bool   { return isClosed(p.ended) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// signal sends a signal to a process that may have ended.
func (p *process) signal(s syscall.Signal) { _ = p.command.Process.Signal(s) }

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}
