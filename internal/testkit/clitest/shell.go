package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// What the program reads and writes as local time is UTC, wherever the tests run.
func init() { time.Local = time.UTC }

// Shell is a user with a database.
type Shell struct {
	Env   map[string]string
	Stdin string
	// Program is what is run; nil: [cli.Run].
	Program func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int
}

func (s Shell) program(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	program := s.Program
	if program == nil {
		program = cli.Run
	}
	return program(ctx, args, strings.NewReader(s.Stdin), stdout, stderr, func(name string) string { return s.Env[name] })
}

// Result is what a run of the program gave.
type Result struct {
	Exit           int
	Stdout, Stderr string
}

// Run runs the program as main does.
func (s Shell) Run(ctx context.Context, args ...string) Result {
	var stdout, stderr bytes.Buffer
	exit := s.program(ctx, args, &stdout, &stderr)
	return Result{exit, stdout.String(), stderr.String()}
}

// Must runs the program, which must succeed, and returns its output.
func (s Shell) Must(t *testing.T, args ...string) string {
	t.Helper()
	r := s.Run(t.Context(), args...)
	if r.Exit != ui.Done {
		t.Fatalf("nextrun %s: exit code %d\n%s%s", strings.Join(args, " "), r.Exit, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// Says runs a command line, which must end with an exit code and say the texts, blanks reduced to one; of a text that
// begins with "! " it must not say the rest. Words with blanks are in 'single quotes'.
func (s Shell) Says(t *testing.T, exit int, line string, texts ...string) Result {
	t.Helper()
	r := s.Run(t.Context(), words(line)...)
	if r.Exit != exit {
		t.Errorf("nextrun %s: exit code %d, want %d\n%s%s", line, r.Exit, exit, r.Stdout, r.Stderr)
	}
	said := oneLine(r.Stdout + r.Stderr)
	for _, text := range texts {
		if unwanted, not := strings.CutPrefix(text, "! "); strings.Contains(said, oneLine(unwanted)) == not {
			t.Errorf("nextrun %s: want %q of\n%s%s", line, text, r.Stdout, r.Stderr)
		}
	}
	return r
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// words are those of a command line.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// JSON runs the program with --json and decodes what it writes.
func (s Shell) JSON(t *testing.T, value any, args ...string) {
	t.Helper()
	Decode(t, s.Must(t, append(args, "--json")...), value)
}

// Decode decodes JSON.
func Decode(t *testing.T, text string, value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), value); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// Exec runs a statement as somebody who knows nothing of nextrun.
func (s Shell) Exec(t *testing.T, statement string) {
	t.Helper()
	storetest.At(t, s.Env["NEXTRUN_DB"]).Exec(statement)
}

// Submit submits a job by hand and returns its id.
func (s Shell) Submit(t *testing.T, args ...string) string {
	t.Helper()
	out := s.Must(t, append([]string{"job", "submit"}, args...)...)
	jid, ok := strings.CutPrefix(strings.TrimSpace(out), "submitted ")
	if !ok {
		t.Fatalf("job submit says %q", out)
	}
	return jid
}
