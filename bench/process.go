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
	"sync"
	"syscall"
	"time"
)

// process is a program that is measured.
type process struct {
	command *exec.Cmd
	said    *bytes.Buffer // on standard error; read it after the end
	told    *output       // on standard output
	ended   chan error
	stopped bool
}

func start(ctx context.Context, env []string, name string, args ...string) (*process, error) {
	p := &process{command: exec.CommandContext(ctx, name, args...), said: &bytes.Buffer{}, told: &output{}, ended: make(chan error, 1)}
	p.command.Env = append(os.Environ(), env...)
	p.command.Stdout, p.command.Stderr = p.told, p.said
	p.command.Cancel = func() error { return p.command.Process.Signal(syscall.SIGTERM) }
	p.command.WaitDelay = 10 * time.Second
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		err := p.command.Wait()
		if text := strings.TrimSpace(p.said.String()); text != "" && err != nil {
			err = errors.Join(err, errors.New(text))
		} else if text != "" {
			fmt.Fprintf(os.Stderr, "bench: said by %s:\n%s\n", name, text) // it went on, and the figures have what it cost
		}
		p.ended <- err
		close(p.ended) // whoever asks later
	}()
	return p, nil
}

// output is what a process writes, while it does.
type output struct {
	mu   sync.Mutex
	text []byte
}

// Write implements [io.Writer].
func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, text...)
	return len(text), nil
}

func (o *output) Bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.text)
}

// stop ends the process and waits for it.
func (p *process) stop() error {
	if p.stopped {
		return nil
	}
	p.stopped = true
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-p.ended:
		return err
	case <-time.After(30 * time.Second):
		_ = p.command.Process.Kill()
		return fmt.Errorf("the process %s did not end", p.command.Path)
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

// outputOf runs a program and returns what it writes.
func outputOf(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}

// scheduler starts a scheduler of nextrun.
func (b *bench) scheduler(ctx context.Context, url, name string, flags ...string) (*process, error) {
	return start(ctx, []string{"NEXTRUN_DB=" + url}, b.program, append([]string{"scheduler", "--log-level", "error", "--name", name}, flags...)...)
}

// peer starts a process of this program that is a peer.
func peer(ctx context.Context, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, nil, self, append([]string{peerCommand}, args...)...)
}
