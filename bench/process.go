package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// process is a program that is measured.
type process struct {
	command *exec.Cmd
	ended   chan error
}

func start(ctx context.Context, env []string, name string, args ...string) *process {
	p := &process{command: exec.CommandContext(ctx, name, args...), ended: make(chan error, 1)}
	p.command.Env = append(os.Environ(), env...)
	p.command.Stderr = os.Stderr // what it says while it goes on has its cost in the figures
	p.command.Cancel = func() error { return p.command.Process.Signal(syscall.SIGTERM) }
	p.command.WaitDelay = 10 * time.Second
	must.Nil(p.command.Start())
	go func() {
		p.ended <- p.command.Wait()
		close(p.ended) // whoever asks later
	}()
	return p
}

// stop ends the process, if it has begun, and waits for it.
func (p *process) stop() {
	if p == nil {
		return
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		panic(err)
	}
	select {
	case err := <-p.ended:
		must.Nil(err)
	case <-time.After(30 * time.Second):
		_ = p.command.Process.Kill()
		panic(fmt.Errorf("the process %s did not end", p.command.Path))
	}
}

// memory is the peak of the resident memory in MiB, as far as the system tells.
func (p *process) memory() (mib float64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(text), "VmHWM:")
	if !ok {
		return 0, false
	}
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kib / 1024, err == nil
}

// cpuOf is the processor time that a process has used, as far as the system tells.
func cpuOf(pid int) (time.Duration, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, err1 == nil && err2 == nil // USER_HZ is 100
}

// scheduler starts a scheduler of nextrun.
func (b *bench) scheduler(ctx context.Context, url, name string) *process {
	return start(ctx, []string{"NEXTRUN_DB=" + url}, b.program, "scheduler", "--log-level", "error", "--name", name)
}
