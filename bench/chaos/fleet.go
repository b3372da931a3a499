//go:build linux

package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/audit"
	"github.com/nextrun/nextrun/bench/internal/must"
)

// configuration is that of all processes.
//
//go:embed nextrun.yaml
var configuration string

// fleet is several instances of nextrun.
type fleet struct {
	programs  []string // the oldest first
	dir       string
	quiet     string // address of the database for who checks
	instances []*instance
	found     *audit.Findings

	mu sync.Mutex // guards what changes of the instances
}

// newFleet builds the programs and makes instances of it, with configurations for two locks of schedulers.
func newFleet(ctx context.Context, c *chaos) *fleet {
	fl := &fleet{dir: c.dir, quiet: c.base.url(c.instances), found: &c.found}
	fl.programs = []string{filepath.Join(c.dir, "nextrun")}
	if c.upgrade {
		fl.programs = append(fl.programs, filepath.Join(c.dir, "newer"))
	}
	for i, program := range fl.programs {
		build(ctx, program, c.clocks, i > 0)
	}
	for _, lock := range []string{"a", "b"} {
		text := strings.NewReplacer("RECEIVER", "http://"+c.ledger.address, "SOCKET", strings.Replace(c.ledger.address, ":", "/", 1),
			"LOCK", lock).Replace(configuration)
		must.Nil(os.WriteFile(fl.config(lock), []byte(text), 0o600))
	}
	for i := range c.instances {
		fl.instances = append(fl.instances, newInstance(i, c.dir, c.base.url(i), fl.programs[0]))
	}
	return fl
}

func (fl *fleet) config(lock string) string { return filepath.Join(fl.dir, "lock-"+lock+".yaml") }

// once runs a program with arguments. The error has what the program said.
func (fl *fleet) once(ctx context.Context, program string, args ...string) error {
	p := exec.CommandContext(ctx, program, args...)
	p.Env = append(os.Environ(), "NEXTRUN_DB="+fl.quiet) // without the short time-outs of the configuration
	if out, err := p.CombinedOutput(); err != nil {
		return fmt.Errorf("nextrun %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// keep starts a process for each instance, and another one whenever it ends. After the end of the context and [fleet.kill], it
// returns when all processes have ended.
func (fl *fleet) keep(ctx context.Context) {
	var all sync.WaitGroup
	for _, in := range fl.instances {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := must.Try(func() { fl.live(ctx, in) }); err != nil {
					fl.strange(in, "did not start: %v", err)
					wait(ctx, 5*time.Second)
				}
			}
		})
	}
	all.Wait()
}

// kill ends all processes.
func (fl *fleet) kill() {
	for _, in := range fl.instances {
		_ = must.Try(func() { fl.signal(in, syscall.SIGKILL) })
	}
}

func (fl *fleet) strange(in *instance, format string, args ...any) {
	fl.found.Add("a process", in.name+" "+in.role.command+" "+in.role.mode, format, args...)
}

// started is closed at the end of a process that has started all of its parts. It panics if there is none.
func (fl *fleet) started(in *instance) (ended chan struct{}) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if in.process == nil || !in.log.started.Load() {
		panic(errNotNow)
	}
	return in.ended
}

// signal sends a signal. It panics if there is no process.
func (fl *fleet) signal(in *instance, s syscall.Signal) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if in.process == nil {
		panic(errNotNow)
	}
	in.asked = in.asked || s == syscall.SIGKILL || s == syscall.SIGTERM
	if in.process.Signal(s) != nil {
		panic(errNotNow) // it has just ended
	}
}

// instance is a place for a process of nextrun. Whatever ends the process, another one follows, as systemd would have it.
type instance struct {
	name   string
	env    []string
	clock  []byte     // seconds ahead, which the process has mapped
	faulty sync.Mutex // held by what happens to it

	role    role   // of the next process
	program string // of the next process
	process *os.Process
	ended   chan struct{} // closed at its end
	asked   bool          // to end
	log     *log
}

// role is what an instance may be.
type role struct{ command, mode, lock string }

// roles are those of the instances, in turn. Those in mode leader share a lock, and so do those in mode exclusive; each of
// them would be enough, and none may disturb the others.
var roles = []role{
	{"serve", "shared", "a"}, {"scheduler", "leader", "a"}, {"executor", "", "a"}, {"serve", "leader", "a"},
	{"scheduler", "exclusive", "b"}, {"executor", "", "a"}, {"serve", "shared", "a"}, {"scheduler", "shared", "a"},
}

func newInstance(i int, dir, url, program string) *instance {
	in := &instance{name: fmt.Sprintf("i%d", i), role: roles[i%len(roles)], program: program}
	clock := filepath.Join(dir, in.name+".clock")
	in.env = append(os.Environ(), "NEXTRUN_DB="+url, "NEXTRUN_CHAOS_CLOCK="+clock, "GOMAXPROCS=2")
	file := must.Get(os.Create(clock))
	defer file.Close() //nolint:errcheck // it is mapped
	must.Nil(file.Truncate(8))
	in.clock = must.Get(syscall.Mmap(int(file.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED))
	return in
}

// ahead sets the clock of the process.
func (in *instance) ahead(by time.Duration) {
	binary.NativeEndian.PutUint64(in.clock, uint64(int64(by/time.Second)))
}

// live runs a process until it ends, and judges its end.
func (fl *fleet) live(ctx context.Context, in *instance) {
	c := fl.begin(ctx, in)
	if c == nil {
		return
	}
	err := c.Wait()
	close(in.ended)
	_ = in.log.file.Close()
	fl.mu.Lock()
	in.process = nil
	asked, exclusive := in.asked, in.role.mode == "exclusive"
	fl.mu.Unlock()
	switch {
	case in.log.panicked.Load():
		fl.strange(in, "panicked: see its log")
	case asked, ctx.Err() != nil:
	case !in.log.started.Load():
		wait(ctx, 5*time.Second) // no database, or another one is exclusive
	case exclusive && err != nil: // it lost its lock
	default:
		fl.strange(in, "ended by itself: %v", err)
	}
	wait(ctx, 300*time.Millisecond)
}

// begin starts a process, unless the context has ended: who kills all processes at the end would not see this one.
func (fl *fleet) begin(ctx context.Context, in *instance) *exec.Cmd {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	said := openLog(filepath.Join(fl.dir, in.name+".log"), in.role.command+" "+in.role.mode+" of "+filepath.Base(in.program))
	args := []string{"--config", fl.config(in.role.lock), in.role.command, "--name", in.name}
	if in.role.mode != "" {
		args = append(args, "--mode", in.role.mode)
	}
	c := exec.Command(in.program, args...)
	c.Env, c.Stdout, c.Stderr, c.WaitDelay = in.env, said, said, time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Nil(c.Start())
	in.process, in.ended, in.asked, in.log = c.Process, make(chan struct{}), false, said
	return c
}
