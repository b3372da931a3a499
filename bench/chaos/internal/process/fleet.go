//go:build linux

// Package process builds nextrun, runs several processes of it beside each other, and has the faults that happen to them.
package process

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Fleet is several instances of nextrun.
type Fleet struct {
	program, dir string
	quiet        string // address of the database for who checks
	instances    []*instance

	mu  sync.Mutex // guards what follows, and what changes of the instances
	odd []string   // what processes did that no fault explains
}

// NewFleet builds the program, with a clock that can jump if that is asked for, and makes instances of it. They find their
// configuration in dir, and their database at addresses of their own; that of the number after the last one is for who checks.
func NewFleet(ctx context.Context, dir, receiver string, instances int, url func(instance int) string, jumps bool) (*Fleet, error) {
	fl := &Fleet{program: filepath.Join(dir, "nextrun"), dir: dir, quiet: url(instances)}
	if err := build(ctx, fl.program, jumps); err != nil {
		return nil, err
	}
	for _, lock := range []string{"a", "b"} {
		if err := os.WriteFile(fl.config(lock), []byte(config(receiver, filepath.Join(dir, Effects), lock)), 0o600); err != nil {
			return nil, err
		}
	}
	for i := range instances {
		in, err := newInstance(i, dir, url(i))
		if err != nil {
			return nil, err
		}
		fl.instances = append(fl.instances, in)
	}
	return fl, nil
}

// Once runs the program with arguments. It returns what the program said.
func (fl *Fleet) Once(ctx context.Context, args ...string) (string, error) {
	p := exec.CommandContext(ctx, fl.program, args...)
	p.Env = append(os.Environ(), "NEXTRUN_DB="+fl.quiet, "NEXTRUN_CONFIG="+fl.config("a"))
	out, err := p.CombinedOutput()
	return string(out), err
}

// Keep starts a process for each instance, and another one whenever it ends. After the end of the context and [Fleet.Kill], it
// returns when all processes have ended.
func (fl *Fleet) Keep(ctx context.Context) {
	var all sync.WaitGroup
	for _, in := range fl.instances {
		all.Go(func() { fl.keep(ctx, in) })
	}
	all.Wait()
}

// Kill ends all processes.
func (fl *Fleet) Kill() {
	for _, in := range fl.instances {
		_ = fl.signal(in, syscall.SIGKILL, true)
	}
}

// Heal ends all faults of the processes.
func (fl *Fleet) Heal() {
	for _, in := range fl.instances {
		in.ahead(0)
		_ = fl.signal(in, syscall.SIGCONT, false)
	}
}

// Odd is what processes did that no fault explains.
func (fl *Fleet) Odd() []string {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	return slices.Clone(fl.odd)
}

func (fl *Fleet) strange(in *instance, format string, args ...any) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.odd = append(fl.odd, fmt.Sprintf("%s (%s) %s", in.name, in.role, fmt.Sprintf(format, args...)))
}

// started is the log of a process that has started all of its parts, and what is closed at its end.
func (fl *Fleet) started(in *instance) (l *log, ended chan struct{}, running bool) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	return in.log, in.ended, in.process != nil && in.log.started.Load()
}

// signal sends a signal, if there is a process.
func (fl *Fleet) signal(in *instance, s syscall.Signal, ends bool) error {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if in.process == nil {
		return errors.New("no process")
	}
	in.asked = in.asked || ends
	return in.process.Signal(s)
}

// instance is a place for a process of nextrun. Whatever ends the process, another one follows, as systemd would have it.
type instance struct {
	name   string
	env    []string
	clock  []byte     // seconds ahead, which the process has mapped
	faulty sync.Mutex // held by what happens to it

	role    role // of the next process
	process *os.Process
	ended   chan struct{} // closed at its end
	asked   bool          // to end
	log     *log
}

// role is what an instance may be.
type role struct {
	command, mode, lock string
}

func (r role) String() string { return r.command + " " + r.mode }

// roles are those of the instances, in turn. Those in mode leader share a lock, and so do those in mode exclusive; each of
// them would be enough, and none may disturb the others.
var roles = []role{
	{"serve", "shared", "a"}, {"scheduler", "leader", "a"}, {"executor", "", "a"}, {"serve", "leader", "a"},
	{"scheduler", "exclusive", "b"}, {"executor", "", "a"}, {"serve", "shared", "a"}, {"scheduler", "shared", "a"},
}

func newInstance(i int, dir, url string) (*instance, error) {
	in := &instance{name: fmt.Sprintf("i%d", i), role: roles[i%len(roles)]}
	clock := filepath.Join(dir, in.name+".clock")
	if err := os.WriteFile(clock, make([]byte, 8), 0o600); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(clock, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is mapped
	in.clock, err = syscall.Mmap(int(file.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	in.env = append(os.Environ(), "NEXTRUN_DB="+url, clockEnv+"="+clock, "GOMAXPROCS=2")
	return in, err
}

// ahead sets the clock of the process.
func (in *instance) ahead(by time.Duration) {
	binary.NativeEndian.PutUint64(in.clock, uint64(int64(by/time.Second)))
}

// keep starts processes, one after the other, until the context ends.
func (fl *Fleet) keep(ctx context.Context, in *instance) {
	for ctx.Err() == nil {
		if err := fl.live(ctx, in); err != nil && ctx.Err() == nil {
			fl.strange(in, "did not start: %v", err)
		}
		pause := 300 * time.Millisecond
		if in.log == nil || !in.log.started.Load() {
			pause = 5 * time.Second // no database, or another one is exclusive
		}
		fault.Wait(ctx, pause)
	}
}

// live runs a process until it ends.
func (fl *Fleet) live(ctx context.Context, in *instance) error {
	c, err := fl.begin(ctx, in)
	if err != nil {
		return err
	}
	err = c.Wait()
	close(in.ended)
	in.log.end()
	fl.mu.Lock()
	in.process = nil
	asked, exclusive := in.asked, in.role.mode == "exclusive"
	fl.mu.Unlock()
	fl.judge(ctx, in, asked, exclusive, err)
	return nil
}

// begin starts a process, unless the context has ended: who kills all processes at the end would not see this one.
func (fl *Fleet) begin(ctx context.Context, in *instance) (*exec.Cmd, error) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	said, err := openLog(filepath.Join(fl.dir, in.name+".log"), in.role.String())
	if err != nil {
		return nil, err
	}
	args := []string{"--config", fl.config(in.role.lock), in.role.command, "--name", in.name}
	if in.role.mode != "" {
		args = append(args, "--mode", in.role.mode)
	}
	c := exec.Command(fl.program, args...)
	c.Env, c.Stdout, c.Stderr = in.env, said.writer, said.writer
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		said.end()
		return nil, err
	}
	in.process, in.ended, in.asked, in.log = c.Process, make(chan struct{}), false, said
	return c, nil
}

// judge looks at how a process has ended.
func (fl *Fleet) judge(ctx context.Context, in *instance, asked, exclusive bool, err error) {
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	switch {
	case in.log.panicked.Load():
		fl.strange(in, "panicked: see its log")
	case asked && (err == nil || killed), ctx.Err() != nil:
	case asked: // in the middle of trouble
	case !in.log.started.Load(): // no database, or another one is exclusive
	case exclusive && err != nil: // it lost its lock
	default:
		fl.strange(in, "ended by itself: %v", err)
	}
}
