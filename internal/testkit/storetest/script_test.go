package storetest_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

const script = "../../../scripts/with-postgres"

// result is how a run of the script ended.
type result struct {
	output, messages string
	code             int
}

// runScript runs with-postgres; settings replace those of the environment.
func runScript(t *testing.T, input string, settings []string, args ...string) result {
	t.Helper()
	var output, messages bytes.Buffer
	command := exec.Command(script, args...)
	command.Env = append(os.Environ(), settings...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &output, &messages
	err := command.Run()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{output.String(), messages.String(), command.ProcessState.ExitCode()}
}

func TestScriptRunsACommand(t *testing.T) {
	t.Parallel()
	storetest.Need(t, storetest.Postgres)
	none := storetest.ServerVariable + "="
	got := runScript(t, "input", []string{none}, "sh", "-c", `cat; echo " $0 $NEXTRUN_TEST_POSTGRES"; exit 7`, "two words")
	if got.code != 7 || !strings.HasPrefix(got.output, "input two words postgres://") || got.messages != "" {
		t.Errorf("got %+v, want exit code 7, the input, the argument and a URL", got)
	}
	if got := runScript(t, "", []string{none}, "/no/such/command"); got.code != 127 {
		t.Errorf("a command that does not exist ends with code %d, want 127", got.code)
	}
}

func TestScriptPassesSignalsOn(t *testing.T) {
	t.Parallel()
	storetest.Need(t, storetest.Postgres)
	for name, signal := range map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.Command(script, "sh", "-c",
				`trap 'echo got it; exit 9' `+name+`; echo up; read -r forever`)
			command.Env = append(os.Environ(), storetest.ServerVariable+"=")
			input, err := command.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = input.Close() }()
			output, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			up := make([]byte, 3)
			if _, err := output.Read(up); err != nil {
				t.Fatal(err)
			}
			if err := command.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			rest := new(bytes.Buffer)
			if _, err := rest.ReadFrom(output); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait()
			if code := command.ProcessState.ExitCode(); code != 9 || rest.String() != "got it\n" {
				t.Errorf("the command said %q and the script ended with %d, want its 9", rest, code)
			}
		})
	}
}

func TestScriptUsesTheServerGiven(t *testing.T) {
	t.Parallel()
	given := storetest.ServerVariable + "=postgres://elsewhere/x"
	if got := runScript(t, "", []string{given}, "sh", "-c", "echo $NEXTRUN_TEST_POSTGRES"); got.output != "postgres://elsewhere/x\n" {
		t.Errorf("the command got %q, want the URL given", got.output)
	}
	got := runScript(t, "stop\nstart\n", []string{given})
	lines := strings.Split(strings.TrimSpace(got.output), "\n")
	if len(lines) != 3 || lines[0] != "postgres://elsewhere/x" {
		t.Fatalf("got %q, want the URL and two answers", lines)
	}
	for _, answer := range lines[1:] {
		if !strings.HasPrefix(answer, "failed: ") {
			t.Errorf("an order to a server that is not ours was answered with %q", answer)
		}
	}
}

func TestScriptSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	nothing := []string{storetest.ServerVariable + "=", "NEXTRUN_TEST_POSTGRES_BIN=/no/such/directory", "NEXTRUN_INSTALL=0", "NEXTRUN_TEST_WITHOUT="}
	got := runScript(t, "", nothing, "true")
	for _, want := range []string{"apt-get install postgresql", "set NEXTRUN_TEST_POSTGRES"} {
		if got.code != 1 || !strings.Contains(got.messages, want) {
			t.Errorf("got %+v, want exit code 1 and the hint %q", got, want)
		}
	}
}

func TestScriptShowsTheLogOfAFailure(t *testing.T) {
	t.Parallel()
	programs := stub(t, "initdb", "echo the disk is tired; exit 1")
	for name, body := range map[string]string{"pg_ctl": "exit 1", "postgres": "echo 'postgres (PostgreSQL) 17.2'"} {
		writeProgram(t, filepath.Join(programs, name), body)
	}
	got := runScript(t, "", []string{storetest.ServerVariable + "=", "NEXTRUN_TEST_WITHOUT=", "NEXTRUN_TEST_POSTGRES_BIN=" + programs}, "true")
	if got.code != 1 || !strings.Contains(got.messages, "the disk is tired") {
		t.Errorf("got %+v, want exit code 1 and initdb's words", got)
	}
}

// stub returns a directory with a program of that name, which all users can run.
func stub(t *testing.T, name, body string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "nextrun-stub") //nolint:usetesting // t.TempDir's parent is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	writeProgram(t, filepath.Join(dir, name), body)
	return dir
}

func writeProgram(t *testing.T, path, body string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
