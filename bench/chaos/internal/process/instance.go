//go:build linux

package process

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// instance is a place for a process of nextrun. Whatever ends the process, another one follows, as systemd would have it.
type instance struct {
	name    string
	program string
	env     []string
	dir     string
	clock   []byte // seconds ahead, which the process has mapped
	faulty  sync.Mutex

	mu      sync.Mutex
	command []string // role and flags
	lock    string
	process *os.Process
	asked   bool // to end
	log     *processLog
	starts  int
	refused int // ends before the start was complete
	odd     []string
}

// role is what an instance may be.
type role struct {
	command, mode, lock string
}

// roles are those of the instances, in turn. Those in mode leader share a lock, and so do those in mode exclusive; each of
// them would be enough, and none may disturb the others.
var roles = []role{
	{"serve", "shared", "a"}, {"scheduler", "leader", "a"}, {"executor", "", "a"}, {"serve", "leader", "a"},
	{"scheduler", "exclusive", "b"}, {"executor", "", "a"}, {"serve", "shared", "a"}, {"scheduler", "shared", "a"},
}

func newInstance(i int, program, dir, url string) (*instance, error) {
	in := &instance{name: fmt.Sprintf("i%d", i), program: program, dir: dir}
	clock := filepath.Join(dir, in.name+".clock")
	if err := os.WriteFile(clock, make([]byte, 8), 0o600); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(clock, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is mapped
	if in.clock, err = syscall.Mmap(int(file.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err != nil {
		return nil, err
	}
	in.env = append(os.Environ(), "NEXTRUN_DB="+url, clockEnv+"="+clock, "GOMAXPROCS=2")
	in.become(roles[i%len(roles)])
	return in, nil
}

// become changes what the next process is.
func (in *instance) become(r role) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.command, in.lock = []string{r.command}, r.lock
	if r.mode != "" {
		in.command = append(in.command, "--mode", r.mode)
	}
}

// ahead sets the clock of the process.
func (in *instance) ahead(by time.Duration) {
	binary.NativeEndian.PutUint64(in.clock, uint64(int64(by/time.Second)))
}

// keep starts processes, one after the other, until the context ends.
func (in *instance) keep(ctx context.Context) {
	for ctx.Err() == nil {
		if err := in.live(ctx); err != nil {
			in.strange("did not start: " + err.Error())
		}
		pause := 300 * time.Millisecond
		if in.log == nil || !in.log.has("started") {
			pause = 5 * time.Second // no database, or another one is exclusive
		}
		fault.Wait(ctx, pause)
	}
}

// live runs a process until it ends.
func (in *instance) live(ctx context.Context) error {
	in.mu.Lock()
	if ctx.Err() != nil { // who kills all processes at the end would not see this one
		in.mu.Unlock()
		return nil
	}
	args := append([]string{"--config", configFile(in.dir, in.lock)}, in.command...)
	c := exec.Command(in.program, append(args, "--name", in.name)...)
	c.Env = in.env
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said, err := openLog(filepath.Join(in.dir, in.name+".log"), strings.Join(in.command, " "))
	if err == nil {
		c.Stdout, c.Stderr = said, said
		err = c.Start()
	}
	if err != nil {
		in.mu.Unlock()
		return err
	}
	in.process, in.asked, in.log = c.Process, false, said
	in.starts++
	in.mu.Unlock()
	err = c.Wait()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.process = nil
	in.judge(ctx, err)
	return said.file.Close()
}

// judge looks at how a process has ended.
func (in *instance) judge(ctx context.Context, err error) {
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	exclusive := strings.Contains(strings.Join(in.command, " "), "exclusive")
	switch {
	case in.log.has("panic:") || in.log.has("fatal error:"):
		in.odd = append(in.odd, fmt.Sprintf("%s panicked: see its log", in.name))
	case in.asked && (err == nil || killed), ctx.Err() != nil:
	case in.asked:
		in.refused++ // it was asked to end in the middle of trouble
	case !in.log.has("started"):
		in.refused++ // no database, or another one is exclusive
	case exclusive && err != nil: // it lost its lock
	default:
		in.odd = append(in.odd, fmt.Sprintf("%s (%s) ended by itself: %v", in.name, strings.Join(in.command, " "), err))
	}
}

func (in *instance) strange(what string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.odd = append(in.odd, in.name+" "+what)
}

// signal sends a signal, if there is a process.
func (in *instance) signal(s syscall.Signal, ends bool) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.process == nil {
		return errors.New("no process")
	}
	in.asked = in.asked || ends
	return in.process.Signal(s)
}

// begun is how many processes there were.
func (in *instance) begun() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.starts
}

// running reports whether the process has started all of its parts.
func (in *instance) running() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.process != nil && in.log.has("started")
}
