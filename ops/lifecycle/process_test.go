package lifecycle_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/ops/lifecycle"
)

// fake is a service that notes what happens to it.
type fake struct {
	journal *journal
	name    string
	health  func() error
	done    chan struct{}
	end     func()
	err     error
}

type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, " ")
}

func newFake(j *journal, name string, health func() error) *fake {
	f := &fake{journal: j, name: name, health: health, done: make(chan struct{})}
	f.end = sync.OnceFunc(func() { close(f.done) })
	return f
}

func (f *fake) Start(context.Context) error  { f.journal.add("+" + f.name); return nil }
func (f *fake) Done() <-chan struct{}        { return f.done }
func (f *fake) Err() error                   { return f.err }
func (f *fake) Health(context.Context) error { return f.health() }
func (f *fake) Stop(context.Context) error {
	f.journal.add("-" + f.name)
	f.end()
	return nil
}

func well() error { return nil }

func newProcess(t *testing.T, services ...*fake) *lifecycle.Process {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	p, err := lifecycle.New(lifecycle.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range services {
		p.AddService(one.name, one)
	}
	return p
}

// A process has started when all of it is healthy, not sooner.
func TestStartAwaitsHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		var ready atomic.Bool
		p := newProcess(t, newFake(&j, "scheduler", well), newFake(&j, "executor", func() error {
			if ready.Load() {
				return nil
			}
			return errors.New("not yet")
		}))
		started := make(chan error)
		go func() { started <- p.Start(t.Context()) }()
		time.Sleep(10 * time.Second) //nolint:forbidigo // in a bubble of synctest it takes no time
		synctest.Wait()
		select {
		case err := <-started:
			t.Fatalf("it started while a service was not healthy: %v", err)
		default:
		}
		if p.Health(t.Context()).Healthy {
			t.Error("it says that it is healthy")
		}
		ready.Store(true)
		if err := <-started; err != nil || !p.Health(t.Context()).Healthy {
			t.Errorf("start = %v, %+v", err, p.Health(t.Context()))
		}
		if err := p.Stop(t.Context()); err != nil || j.String() != "+scheduler +executor -executor -scheduler" {
			t.Errorf("stop = %v; it did %v", err, &j)
		}
	})
}

// A service that does not become healthy, or ends, is named, and the others are stopped.
func TestStartNamesTheSickService(t *testing.T) {
	t.Parallel()
	sick := func() error { return errors.New("connection refused") }
	for name, c := range map[string]struct {
		health func() error
		end    error
		want   string
	}{
		"sick":  {sick, nil, "start failed at executor: not healthy after 30s: connection refused"},
		"ended": {well, errors.New("somebody has the lock"), "start failed at executor: somebody has the lock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var j journal
				executor := newFake(&j, "executor", c.health)
				if executor.err = c.end; c.end != nil {
					executor.end()
				}
				p := newProcess(t, newFake(&j, "scheduler", well), executor, newFake(&j, "relay", well))
				err := p.Start(t.Context())
				var stage *lifecycle.StageError
				if !errors.As(err, &stage) || stage.Stage != "executor" || !strings.Contains(err.Error(), c.want) {
					t.Errorf("start = %v, want %q", err, c.want)
				}
				if want := "+scheduler +executor +relay -relay -executor -scheduler"; j.String() != want {
					t.Errorf("it did %v, want %s", &j, want)
				}
			})
		})
	}
}

// A process ends when one of its services does.
func TestRunEndsWithAService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		scheduler := newFake(&j, "scheduler", well)
		scheduler.err = errors.New("somebody has the lock")
		p := newProcess(t, scheduler, newFake(&j, "executor", well))
		time.AfterFunc(time.Minute, scheduler.end)
		if err := p.Run(t.Context()); !errors.Is(err, scheduler.err) {
			t.Errorf("run = %v, want %v", err, scheduler.err)
		}
		if want := "+scheduler +executor -executor -scheduler"; j.String() != want {
			t.Errorf("it did %v, want %s", &j, want)
		}
	})
}

// systemd hears of the start when all is healthy, regularly while no service is stuck,
// and of the stop.
func TestSystemdIsTold(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "2000")
	received := func(want string) {
		t.Helper()
		for message := make([]byte, 64); ; {
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			n, err := conn.Read(message)
			if err != nil {
				t.Fatalf("systemd did not hear %s: %v", want, err)
			}
			if got := string(message[:n]); got == want {
				return
			} else if got != "WATCHDOG=1" {
				t.Fatalf("systemd heard %q, want %s", got, want)
			}
		}
	}
	var j journal
	p := newProcess(t, newFake(&j, "executor", well))
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	received("READY=1")
	received("WATCHDOG=1")
	received("WATCHDOG=1")
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	received("STOPPING=1")
}
