package hostile_test

import (
	"bufio"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// service is a running process of nextrun, whose log is kept.
type service struct {
	*testing.T
	name    string
	command *exec.Cmd
	done    chan struct{} // closed when its log has ended

	mu      sync.Mutex
	lines   []string
	started bool
}

// start starts a process; its log is one of lines of JSON.
func (e environment) start(name string, args ...string) *service {
	e.Helper()
	s := &service{T: e.T, name: name, done: make(chan struct{}), command: exec.Command(binary, append(args, "--log-format", "json", "--name", name)...)}
	s.command.Env = e.environ()
	log, err := s.command.StderrPipe()
	if err != nil {
		e.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		e.Fatal(err)
	}
	go func() {
		defer close(s.done)
		for scan := bufio.NewReader(log); ; {
			line, err := scan.ReadString('\n')
			if line != "" {
				s.add(line)
			}
			if err != nil {
				return
			}
		}
	}()
	e.Cleanup(func() {
		_ = s.command.Process.Kill() // unless it has ended
		_ = s.command.Wait()
	})
	return s
}

func (s *service) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, strings.TrimSpace(line))
	s.started = s.started || strings.Contains(line, `"msg":"started"`)
}

// until waits until the process has started, or has ended.
func (s *service) until() {
	s.Helper()
	storetest.Eventually(s.T, s.name+" has started", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.started || s.ended()
	})
	if s.ended() {
		s.Fatalf("%s ended:\n%s", s.name, strings.Join(s.log(0), "\n"))
	}
}

func (s *service) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// log is what the process has written since a line.
func (s *service) log(from int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines[from:]
}

// stop ends the process as systemd does, and reports whether it ended well.
func (s *service) stop() bool {
	s.Helper()
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		s.Errorf("%s: %v", s.name, err)
	}
	late := time.AfterFunc(slow, func() { _ = s.command.Process.Kill() })
	defer late.Stop()
	<-s.done
	return s.command.Wait() == nil
}
