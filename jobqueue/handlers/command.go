package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
)

// What the fields of [CommandConfig] and [HTTPConfig] are that nobody sets.
const (
	DefaultKillGrace = 5 * time.Second
	DefaultMaxOutput = 1 << 20
	DefaultTimeout   = time.Minute
)

// longest is the greatest duration of a Config.
const longest = 1000 * time.Hour

var durations = "1ns to " + longest.String()

// maxArgsVariable is the greatest length of NEXTRUN_ARGS: Linux allows an
// environment variable 128 KiB. Longer args are on standard input only.
const maxArgsVariable = 100 << 10

// CommandConfig says which program runs the jobs of a task, and how.
//
// The program gets the job's args on standard input and, if they are at most
// 100 KiB, in NEXTRUN_ARGS; NEXTRUN_JOB_ID, NEXTRUN_HANDLER, NEXTRUN_TASK (the tracker), NEXTRUN_GROUP,
// NEXTRUN_SUBJECT, NEXTRUN_ATTEMPT and, for a tick,
// NEXTRUN_DUE (RFC 3339, UTC) tell the rest. TRACEPARENT is that of [jobqueue.Traceparent],
// if there is one. What it writes goes to the job log
// line by line, standard error at level warn.
type CommandConfig struct {
	// Argv is the program and its arguments. It is not given to a shell, and
	// nothing of the job is inserted into it. Required.
	Argv []string `yaml:"command"`
	// Env are NAME=value pairs in addition to this process's environment, without
	// what systemd meant for this process alone. The
	// variables about the job go before them.
	Env []string
	// Without names variables of this process that the program does not get, such
	// as those that hold secrets. Env may still set them.
	Without []string
	// Dir is the working directory. Empty: this process's.
	Dir string `yaml:"dir"`
	// Timeout is how long an attempt may take. 0: no limit.
	Timeout time.Duration `yaml:"timeout"`
	// KillGrace is how long the processes have between SIGTERM and SIGKILL, on
	// timeout, cancellation or shutdown. 0: 5 s; negative: none.
	KillGrace time.Duration `yaml:"kill_grace"`
	// MaxOutput is how many bytes of output of an attempt go to the job log, in at
	// most MaxOutput/16 + 100 lines: the first ones, up to half of it, and the last ones of each stream. What is between them is
	// read and dropped, and a line says so. 0: 1 MiB; negative: no output.
	MaxOutput int `yaml:"max_output"`
}

// Validate returns an error that names every field that is bad. [Command] calls
// it.
func (c CommandConfig) Validate() error {
	p := &service.Check{Config: "handlers.CommandConfig"}
	p.Field(len(c.Argv) > 0 && c.Argv[0] != "", "Argv", "empty", "the program and its arguments")
	p.Field(0 <= c.Timeout && c.Timeout <= longest, "Timeout", c.Timeout, durations)
	p.Field(c.KillGrace <= longest, "KillGrace", c.KillGrace, durations)
	for _, pair := range c.Env {
		name, _, found := strings.Cut(pair, "=")
		p.Field(found && name != "", "Env", fmt.Sprintf("%q", name), "NAME=value")
	}
	return p.Err()
}

// Command returns a handler that runs a program in a new process group. The group
// gets SIGTERM on timeout, cancellation and shutdown, SIGKILL after KillGrace, and
// in any case SIGKILL once the program itself has ended. On Linux the program, though not what it has started, is killed with
// this process; elsewhere it goes on if this process is killed. An exit code other
// than 0 is an error; a program that cannot be started fails the job at once, unless
// the system was short of processes, files or memory.
func Command(cfg CommandConfig) (jobqueue.Handler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.KillGrace = cmp.Or(cfg.KillGrace, DefaultKillGrace)
	cfg.MaxOutput = cmp.Or(cfg.MaxOutput, DefaultMaxOutput)
	cfg.Argv, cfg.Env = slices.Clone(cfg.Argv), slices.Clone(cfg.Env)
	return jobqueue.Timeout(cfg.Timeout, cfg.run), nil
}

func (c CommandConfig) run(ctx context.Context, job *jobqueue.JobContext) error {
	output := newOutput(job, c.MaxOutput)
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(append(c.inherited(os.Environ()), c.Env...), variables(ctx, job)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(job.Args), output.stdout, output.stderr
	cmd.WaitDelay = drainTime // for a grandchild that holds one of them open
	ownGroup(cmd)
	defer endsWithExecutor(cmd)()
	if err := cmd.Start(); err != nil {
		output.end()
		return c.notStarted(err)
	}
	shortage.Store(nil)
	exited, stopped := make(chan struct{}), make(chan bool)
	go func() { stopped <- c.supervise(ctx, cmd, exited) }()
	err := cmd.Wait()
	close(exited)
	byUs := <-stopped
	output.end()
	killGroup(cmd) // what the program has started and left behind
	if byUs {      // an exit code of 0 then says that it stopped in order, not that it is done
		return fmt.Errorf("%s was ended: %w", c.Argv[0], context.Cause(ctx))
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		job.Logf(jobqueue.Warn, "output was read for %s after the program ended; a process that it left behind still holds it open", drainTime)
	}
	return c.verdict(err)
}

// ownVariables are meant for this process alone: the trace in which it was started, and what systemd(1) gives it.
var ownVariables = []string{
	"TRACEPARENT", "TRACESTATE", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
	"JOURNAL_STREAM", "CREDENTIALS_DIRECTORY", "INVOCATION_ID",
}

// inherited is the environment that the program gets from this process.
func (c CommandConfig) inherited(environment []string) []string {
	return slices.DeleteFunc(environment, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(ownVariables, name) || slices.Contains(c.Without, name)
	})
}

// notStarted is the error of a program that could not be started: a permanent
// one, unless the system was short of something or the program is being written.
func (c CommandConfig) notStarted(err error) error {
	failed := fmt.Errorf("start %s: %w", c.Argv[0], err)
	if _, dirErr := os.Stat(c.Dir); c.Dir != "" && dirErr != nil { // err names the program only
		failed = fmt.Errorf("start %s: working directory: %w", c.Argv[0], dirErr)
	}
	if errors.Is(err, syscall.ETXTBSY) {
		return failed
	}
	for _, short := range []error{syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, short) {
			shortage.Store(&failed)
			return failed
		}
	}
	return jobqueue.Permanent(failed)
}

// shortage is why the last program of this process could not be started; nil: it could.
var shortage atomic.Pointer[error]

// Shortage says why this process could not start its last program, if the system was short of processes, files or memory;
// nil: it was not.
func Shortage() error {
	if err := shortage.Load(); err != nil {
		return fmt.Errorf("the last program could not be started: %w; look for zombies, which an init reaps, and at the limits of this process", *err)
	}
	return nil
}

// supervise ends the process group when ctx ends before the program has exited.
// It reports whether it did.
func (c CommandConfig) supervise(ctx context.Context, cmd *exec.Cmd, exited <-chan struct{}) (stopped bool) {
	select {
	case <-exited:
		return false
	case <-ctx.Done():
	}
	defer killGroup(cmd)
	if c.KillGrace < 0 {
		return true
	}
	terminateGroup(cmd)
	timer := time.NewTimer(c.KillGrace)
	defer timer.Stop()
	select {
	case <-exited:
	case <-timer.C:
	}
	return true
}

func (c CommandConfig) verdict(err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case errors.As(err, &exit):
		return fmt.Errorf("%s: %w", c.Argv[0], err)
	}
	return fmt.Errorf("run %s: %w", c.Argv[0], err)
}

// variables describe the job to the program, except values with NUL, which a
// variable cannot hold.
func variables(ctx context.Context, job *jobqueue.JobContext) []string {
	pairs := []string{
		"NEXTRUN_JOB_ID=" + job.JID, "NEXTRUN_HANDLER=" + job.Task, "NEXTRUN_GROUP=" + job.Group,
		"NEXTRUN_SUBJECT=" + job.Subject, "NEXTRUN_TASK=" + job.Tracker,
		"NEXTRUN_ATTEMPT=" + strconv.Itoa(job.Attempt()),
	}
	if len(job.Args) <= maxArgsVariable {
		pairs = append(pairs, "NEXTRUN_ARGS="+job.Args)
	}
	if !job.Due.IsZero() {
		pairs = append(pairs, "NEXTRUN_DUE="+job.Due.UTC().Format(time.RFC3339Nano))
	}
	if parent := jobqueue.Traceparent(ctx); parent != "" {
		pairs = append(pairs, "TRACEPARENT="+parent)
	}
	return slices.DeleteFunc(pairs, func(pair string) bool { return strings.Contains(pair, "\x00") })
}
