package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
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

// identities are the columns by which others know a row. One whose identity was changed is
// another row: the first one is gone, which nobody has to explain.
var identities = []string{"id", "task_id", "jid", "tracker", "topic", "event_id", "aggregate_id"}

// explained waits until each hostile row works, or people can see what keeps it from working
// and what to do: in the log, or by what nextrun says when asked.
func (p *pace) explained(cells []*cell, since string, from []int) {
	p.Helper()
	for _, c := range cells {
		if c.works == "" || slices.Contains(identities, c.name()) {
			continue
		}
		says, query := "", strings.ReplaceAll(p.fill(c.works, c.id), "{cured}", "'"+since+"'")+";"
		works := func() bool { return p.must(query) != "0" }
		if within(patient, func() bool {
			if says = ""; !works() {
				says = p.said(c, from)
				return says != ""
			}
			return true
		}) {
			if says != "" {
				p.still++
				p.Logf("%s stands still: %.500s", c, says)
			}
			continue
		}
		out, err := p.nextrun("why", c.id)
		p.Errorf("%s stands still, and nobody says why:\n%s%s%v", c, p.script([]*cell{c}), out, err)
	}
}

// said is what a warning or an error of the log says about a row, with what is wrong. Else
// it is what nextrun says when people ask about the task or the job.
func (p *pace) said(c *cell, from []int) string {
	p.Helper()
	for i, s := range p.services {
		for _, line := range s.log(from[i]) {
			var l struct{ Level, Msg, Error, Problem, Result string }
			if json.Unmarshal([]byte(line), &l) == nil && (l.Level == "warning" || l.Level == "error") &&
				strings.Contains(line, c.id) && l.Error+l.Problem+l.Result != "" {
				return line
			}
		}
	}
	switch c.works {
	case ticks:
		return p.why(c)
	case jobEnds:
		return p.waitsFor(c)
	}
	return ""
}

// waitsFor is what nextrun says a job waits for, if that is not the free executor that all
// wait for.
func (p *pace) waitsFor(c *cell) string {
	out, _ := p.nextrun("job", "show", c.id)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "waits for") && !strings.HasSuffix(line, " a handler call\n") {
			return line
		}
	}
	return ""
}

// why is what people have to do about a task, or when it is next.
func (p *pace) why(c *cell) string {
	out, _ := p.nextrun("why", c.id, "--json") // exit code 1: it has something to say
	var report struct {
		NextRun  *time.Time
		Findings []struct{ Finding, Do string }
	}
	if json.Unmarshal([]byte(out), &report) != nil {
		return ""
	}
	for _, f := range report.Findings {
		if f.Do != "" {
			return f.Finding + " " + f.Do
		}
	}
	if report.NextRun != nil && time.Until(*report.NextRun) > time.Minute {
		return "next at " + report.NextRun.String()
	}
	return ""
}

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
