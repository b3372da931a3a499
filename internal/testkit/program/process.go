package program

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Process is a program that runs. What it writes is kept, unless its command says where that goes.
type Process struct {
	Command *exec.Cmd

	t     testing.TB
	ended chan struct{}
	mu    sync.Mutex
	text  strings.Builder
	read  int // so much of the text was waited for
}

// Start starts a command. It is killed when the test ends.
func Start(t testing.TB, command *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Command: command, t: t, ended: make(chan struct{})}
	if command.Stdout == nil {
		command.Stdout = p
	}
	if command.Stderr == nil {
		command.Stderr = p
	}
	command.WaitDelay = 10 * time.Second // for what it has started
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = command.Wait() // the exit code tells
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill() // unless it has ended
		<-p.ended
	})
	return p
}

// Write implements [io.Writer].
func (p *Process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

// Said is all that the process has written.
func (p *Process) Said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// WaitFor waits for a text, behind those that it has waited for before.
func (p *Process) WaitFor(text string) {
	p.t.Helper()
	found := false
	storetest.Eventually(p.t, fmt.Sprintf("%s says %q", p.Command, text), func() bool {
		ended := p.Ended()
		at := strings.Index(p.Said()[p.read:], text)
		if found = at >= 0; found {
			p.read += at + len(text)
		}
		return found || ended
	})
	if !found {
		p.t.Fatalf("the program ended without %q:\n%s", text, p.Said())
	}
}

// Signal sends the process a signal.
func (p *Process) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.Command.Process.Signal(s); err != nil {
		p.t.Fatalf("%v\n%s", err, p.Said())
	}
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// End waits for the end of the process and returns its exit code, -1 if a signal has ended it.
func (p *Process) End() int {
	select {
	case <-p.ended:
	case <-time.After(storetest.Patience):
		_ = p.Command.Process.Kill()
		<-p.ended
	}
	return p.Command.ProcessState.ExitCode()
}
