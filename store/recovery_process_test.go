package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// The environment of a holder: another process of the test's program.
const (
	holderURL   = "NEXTRUN_TEST_HOLDER_URL"
	holderRole  = "NEXTRUN_TEST_HOLDER_ROLE"
	holderPolls = "NEXTRUN_TEST_HOLDER_POLLS" // not empty: it does not listen
)

// never is a lease and a poll interval that no test waits for: what happens in a test
// happens without them.
const never = time.Hour

// roles are what may hold something: each holds it when it returns, and never lets go.
var roles = map[string]func(ctx context.Context, db *store.DB) (end func(), err error){
	"leader": holdLock, "executor": holdJob, "relay": holdTopic,
}

// TestHolder is no test but a process of others: it holds something until it is killed.
func TestHolder(t *testing.T) {
	url := os.Getenv(holderURL)
	if url == "" {
		return
	}
	db, err := store.Open(context.Background(), url, store.Options{PollOnly: os.Getenv(holderPolls) != ""})
	if err != nil {
		t.Fatal(err)
	}
	end, err := roles[os.Getenv(holderRole)](context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	fmt.Println("holds")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// quiet logs nothing.
func quiet() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// leading is the configuration of a scheduler in mode leader.
func leading(name string, observe func(scheduler.Event)) scheduler.Config {
	return scheduler.Config{
		Name: name, Mode: scheduler.ModeLeader, Lease: never, PollInterval: never, Logger: quiet(), Observe: observe,
		Lock: scheduler.LockConfig{TTL: 3 * never, Heartbeat: never},
	}
}

func holdLock(ctx context.Context, db *store.DB) (end func(), err error) {
	held := make(chan struct{}, 1)
	s, err := scheduler.New(db.Periodic(), leading("holder", func(e scheduler.Event) {
		if e.Kind == scheduler.EventLeading {
			held <- struct{}{}
		}
	}))
	if err == nil {
		err = s.Start(ctx)
	}
	if err == nil {
		<-held
	}
	return func() { _ = s.Stop(ctx) }, err
}

func executing(name string) executor.Config {
	return executor.Config{Name: name, PoolSize: 1, Lease: never, PollInterval: never, Logger: quiet(), ShutdownGrace: -1}
}

func holdJob(ctx context.Context, db *store.DB) (end func(), err error) {
	held := make(chan struct{}, 1)
	e, err := executor.New(db.Jobs(), executing("holder"))
	if err != nil {
		return nil, err
	}
	e.Register("report", func(ctx context.Context, _ *jobqueue.JobContext) error {
		held <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	if err := e.Start(ctx); err != nil {
		return nil, err
	}
	<-held
	return func() { _ = e.Stop(ctx) }, nil
}

func relaying(name string) relay.Config {
	return relay.Config{Name: name, Lease: never, PollInterval: never, Logger: quiet()}
}

func holdTopic(ctx context.Context, db *store.DB) (end func(), err error) {
	held := make(chan struct{}, 1)
	r, err := relay.New(db.Outbox(), outbox.PublisherFunc(func(ctx context.Context, _ []outbox.Event) (int, error) {
		held <- struct{}{}
		<-ctx.Done()
		return 0, ctx.Err()
	}), relaying("holder"))
	if err == nil {
		err = r.Start(ctx)
	}
	if err == nil {
		<-held
	}
	return func() { _ = r.Stop(ctx) }, err
}

// holder is such a process as its parent sees it.
type holder struct {
	command *exec.Cmd
	ended   chan struct{}
}

// startHolder starts a process and waits until it holds something.
func startHolder(t testing.TB, url, role string, polls bool) *holder {
	t.Helper()
	h := &holder{command: exec.Command(os.Args[0], "-test.run=^TestHolder$"), ended: make(chan struct{})}
	h.command.Env = append(os.Environ(), holderURL+"="+url, holderRole+"="+role, holderPolls+"="+map[bool]string{true: "yes"}[polls],
		"GORACE=atexit_sleep_ms=0")
	h.command.Stderr = os.Stderr
	stdin, err := h.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := h.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.command.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(stdout)
	said.Scan()
	first := said.Text()
	go func() {
		defer close(h.ended)
		_, _ = io.Copy(io.Discard, stdout)
		_ = h.command.Wait() // it is killed
		_ = stdin.Close()
	}()
	t.Cleanup(h.kill)
	if first != "holds" {
		t.Fatalf("the %s said %q", role, first)
	}
	return h
}

// kill ends a process like a crash, and waits.
func (h *holder) kill() {
	_ = h.command.Process.Kill()
	<-h.ended
}

// stop stops a process, as a suspended container does; it goes on at the end of the test.
func (h *holder) stop(t testing.TB) {
	t.Helper()
	if err := h.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// until waits until a condition holds.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	limit := time.After(storetest.Patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not within %s", what, storetest.Patience)
		}
	}
}

// after is how long to wait for what has to happen.
func after() <-chan time.Time { return time.After(storetest.Patience) }
