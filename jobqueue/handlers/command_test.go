package handlers_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
)

func TestCommandGetsTheJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := command(t, handlers.CommandConfig{
		Argv: script(`echo "$NEXTRUN_ARGS"; cat; echo; echo "$OWN $NEXTRUN_HANDLER $NEXTRUN_TASK $NEXTRUN_GROUP $NEXTRUN_ATTEMPT $NEXTRUN_DUE"
			pwd; echo oops >&2; printf 'no end'`),
		Dir: dir, Env: []string{"OWN=mine"},
	})
	a := run(t.Context(), h, jobqueue.Job{Args: `{"a": "$(id) ü"}`, Group: "g", Tracker: "nightly", Due: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	if a.err != nil {
		t.Error(a.err)
	}
	slices.Sort(a.log)
	want := []string{`{"a": "$(id) ü"}`, `{"a": "$(id) ü"}`, "mine t nightly g 1 2026-01-02T03:04:05Z", dir, "oops", "no end"}
	slices.Sort(want)
	if !slices.Equal(a.log, want) {
		t.Errorf("log %q, want %q", a.log, want)
	}
	for _, line := range a.Lines {
		if (line.Level == jobqueue.Warn) != (line.Message == "oops") {
			t.Errorf("%s has level %s", line.Message, line.Level)
		}
	}
}

func TestCommandThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg   handlers.CommandConfig
		says  string
		final bool
	}{
		"exit code":         {handlers.CommandConfig{Argv: script("exit 3")}, "exit status 3", false},
		"no such program":   {handlers.CommandConfig{Argv: []string{"/nowhere/to/be/found"}}, "start /nowhere/to/be/found: ", true},
		"no such directory": {handlers.CommandConfig{Argv: []string{"/bin/true"}, Dir: "/no/such/directory"}, "working directory: stat /no/such/directory", true},
	} {
		err := run(t.Context(), command(t, c.cfg), jobqueue.Job{}).err
		if err == nil || !strings.Contains(err.Error(), c.says) || jobqueue.IsPermanent(err) != c.final {
			t.Errorf("%s: %v, permanent: %t", name, err, jobqueue.IsPermanent(err))
		}
	}
}

// A program that is being replaced can be started a little later.
func TestCommandThatCannotBeStartedJustNowIsTriedAgain(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	file, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	h := command(t, handlers.CommandConfig{Argv: []string{program}})
	if err := run(t.Context(), h, jobqueue.Job{}).err; !errors.Is(err, syscall.ETXTBSY) || jobqueue.IsPermanent(err) {
		t.Errorf("while it is written: %v", err)
	}
}

func TestCommandConfigIsChecked(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]handlers.CommandConfig{
		"Argv": {}, "Timeout": {Argv: []string{"x"}, Timeout: -1}, "Env": {Argv: []string{"x"}, Env: []string{"novalue"}},
	} {
		if _, err := handlers.Command(cfg); err == nil || !strings.Contains(err.Error(), "CommandConfig."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// What a command prints becomes the log of its job.
func TestCommandOutput(t *testing.T) {
	t.Parallel()
	umlauts := "x" + strings.Repeat("ü", 20_000)
	capped := func(first, last int) func(log []string) bool {
		return func(log []string) bool {
			return len(log) == first+1+last && strings.HasSuffix(log[first], " bytes of standard output are left out here")
		}
	}
	exactly := func(lines ...string) func(log []string) bool {
		return func(log []string) bool { return slices.Equal(log, lines) }
	}
	for name, c := range map[string]struct {
		cfg  handlers.CommandConfig
		args string
		want func(log []string) bool
	}{
		"args too long for the environment": {
			handlers.CommandConfig{Argv: script(`echo "${NEXTRUN_ARGS-none}"; wc -c | tr -d ' '`)},
			strings.Repeat("x", 1<<20), exactly("none", "1048576"),
		},
		"cut between characters": {
			handlers.CommandConfig{Argv: []string{"cat"}},
			umlauts, func(log []string) bool { return len(log) == 3 && strings.Join(log, "") == umlauts },
		},
		"capped":             {handlers.CommandConfig{Argv: script(`yes 123456789 | head -100000`), MaxOutput: 95}, "", capped(5, 5)},
		"empty lines capped": {handlers.CommandConfig{Argv: script(`yes '' | head -20000`), MaxOutput: 1024}, "", capped((1024/16+100)/2, (1024/16+100)/2)},
		"env goes before without": {
			handlers.CommandConfig{
				Argv:    script(`env | grep -E "^(HANDLERS_TEST|NOTIFY)_" | sort`),
				Env:     []string{"HANDLERS_TEST_NAMED=of the handler"},
				Without: []string{"HANDLERS_TEST_SECRET", "HANDLERS_TEST_NAMED"},
			},
			"", exactly("HANDLERS_TEST_NAMED=of the handler", "HANDLERS_TEST_OPEN=of the process"),
		},
	} {
		if a := run(t.Context(), command(t, c.cfg), jobqueue.Job{Args: c.args}); a.err != nil || !c.want(a.log) {
			t.Errorf("%s: %v, %d lines of log: %.1000q", name, a.err, len(a.log), a.log)
		}
	}
}

// Of a long output the log has the beginning and the end, of each stream, and says where how much is missing.
func TestCommandWhoseOutputIsLong(t *testing.T) {
	t.Parallel()
	const flood = `seq -f 'row %020g' 50000`
	for name, c := range map[string]struct {
		script string
		want   []string // ends of lines
	}{
		"the error comes last":                     {flood + `; echo 'disk full' >&2`, []string{"01", "of standard output are left out here", "50000", "disk full"}},
		"the error comes in the middle of a flood": {flood + `; echo 'disk full' >&2; ` + flood, []string{"01", "disk full", "50000"}},
		"standard output beside a flood of errors": {`echo begun; ` + flood + ` >&2; echo ended`, []string{"begun", "of standard error are left out here", "ended"}},
		"both flood":               {flood + ` >&2 & ` + flood + `; wait; echo ended`, []string{"of standard output are left out here", "of standard error are left out here", "50000", "ended"}},
		"all of it fits":           {`seq -f 'row %020g' 400`, []string{"01", "200", "201", "400"}},
		"a line that does not fit": {`seq -f '%020000g' 1`, []string{"16385 bytes of standard output are left out here", "01"}},
	} {
		a := run(t.Context(), command(t, handlers.CommandConfig{Argv: script(c.script), MaxOutput: 10 << 10}), jobqueue.Job{})
		size := len(strings.Join(a.log, ""))
		for _, want := range c.want {
			if !slices.ContainsFunc(a.log, func(line string) bool { return strings.HasSuffix(line, want) }) {
				t.Errorf("%s: no line ends with %q: %.100q", name, want, a.log)
			}
		}
		if a.err != nil || size > 11<<10 {
			t.Errorf("%s: %v, and %d bytes of log", name, a.err, size)
		}
	}
}

// A process that has left the group and holds the output open is not waited for,
// and the log says so.
func TestCommandWhoseOutputIsHeldOpen(t *testing.T) {
	t.Parallel()
	a := run(t.Context(), command(t, handlers.CommandConfig{Argv: script(`setsid sh -c 'echo $$; exec sleep 1000' & echo done; wait -n 2>/dev/null; sleep 0.1`)}), jobqueue.Job{})
	for _, line := range a.log {
		if pid, err := strconv.Atoi(line); err == nil {
			t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		}
	}
	if a.err != nil || !slices.Contains(a.log, "done") || !strings.Contains(a.log[len(a.log)-1], "still holds it open") {
		t.Errorf("%v, log %q", a.err, a.log)
	}
}

// alive reports whether a process is there and no zombie that nobody reaps.
func alive(pid string) bool {
	out, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	state := strings.TrimSpace(string(out))
	return state != "" && state[0] != 'Z'
}

// A command that is cancelled, or takes too long, ends together with its children, though they ignore SIGTERM.
func TestCommandEndsAsAWhole(t *testing.T) {
	t.Parallel()
	for cause, timeout := range map[error]time.Duration{jobqueue.ErrCancelled: 0, jobqueue.ErrTimeout: 200 * time.Millisecond} {
		pids := filepath.Join(t.TempDir(), "pids")
		begun := func() bool {
			_, err := os.Stat(pids)
			return err == nil
		}
		for { // until the script has begun before the timeout
			h := command(t, handlers.CommandConfig{
				Argv:    script(`trap '' TERM; sleep 1000 & echo "$$ $!" > ` + pids + `.new; mv ` + pids + `.new ` + pids + `; while :; do sleep 1000; done`),
				Timeout: timeout, KillGrace: time.Millisecond,
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- run(ctx, h, jobqueue.Job{}).err }()
			if timeout == 0 {
				storetest.Eventually(t, "the script runs", begun)
				cancel(cause)
			}
			err := <-ended
			cancel(nil)
			if !errors.Is(err, cause) {
				t.Errorf("it ended with %v, want %v", err, cause)
			}
			if begun() {
				break
			}
			timeout *= 4
		}
		said, err := os.ReadFile(pids)
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range strings.Fields(string(said)) {
			storetest.Eventually(t, "process "+pid+" is gone", func() bool { return !alive(pid) })
		}
	}
}

// A program that ends because the executor asked it to has not done its job.
func TestCommandThatStopsInOrderIsNotDone(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	h := command(t, handlers.CommandConfig{KillGrace: time.Hour, Argv: script(`trap 'exit 0' TERM; echo > ` + ready + `; sleep 1000 & wait`)})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, h, jobqueue.Job{}).err }()
	storetest.Eventually(t, "the script runs", func() bool { _, err := os.Stat(ready); return err == nil })
	cancel(jobqueue.ErrShutdown)
	if err := <-ended; !errors.Is(err, jobqueue.ErrShutdown) {
		t.Errorf("it ended with %v", err)
	}
}

func TestCommandLeavesNoChildrenBehind(t *testing.T) {
	t.Parallel()
	a := run(t.Context(), command(t, handlers.CommandConfig{Argv: script(`sleep 1000 >/dev/null 2>&1 & echo $!`)}), jobqueue.Job{})
	if a.err != nil || len(a.log) != 1 {
		t.Fatalf("%v, log %q", a.err, a.log)
	}
	storetest.Eventually(t, "the child is gone", func() bool { return !alive(a.log[0]) })
}
