package hostile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// service is a running process of nextrun.
type service struct {
	*program.Process
	name string
}

// start starts a process, and waits until it works; its log is one of lines of JSON.
func (e environment) start(name string, args ...string) *service {
	e.Helper()
	command := exec.Command(e.binary(), append(args, "--log-format", "json", "--name", name)...)
	command.Env = e.environ()
	s := &service{program.Start(e.T, command), name}
	s.WaitFor(`"msg":"started"`)
	return s
}

// log are the lines that the process has written since it had said so much.
func (s *service) log(from int) []string {
	text := s.Said()[from:]
	return slices.Collect(strings.Lines(text[:strings.LastIndex(text, "\n")+1]))
}

// stop ends the process as systemd does, and reports whether it ended well.
func (s *service) stop() bool {
	s.Signal(syscall.SIGTERM)
	return s.End() == ui.Done
}

// binary is nextrun as users have it.
func (e environment) binary() string {
	e.Helper()
	return program.Build(e.T, ".", "..")
}

// slow is how long a command that reads may take, with all the hostile rows.
const slow = 60 * time.Second

// nextrun runs a command, and returns what it printed. The error says how it ended.
func (e environment) nextrun(args ...string) (out string, err error) {
	ctx, cancel := context.WithTimeout(e.Context(), slow)
	defer cancel()
	c := exec.CommandContext(ctx, e.binary(), args...)
	c.Env = e.environ()
	text, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("it hangs, after %s", slow)
	case bytes.Contains(text, []byte("goroutine 1 [")) || errors.As(err, &exit) && exit.ExitCode() < 0:
		err = fmt.Errorf("it panics: %w", err)
	}
	return string(text), err
}

func (e environment) environ() []string {
	return append(os.Environ(), "NEXTRUN_DB="+e.url, "NEXTRUN_CONFIG="+e.config)
}
