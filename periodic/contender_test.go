package periodic_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// The environment of a contender: another process of the test's program.
const (
	contenderURL   = "NEXTRUN_TEST_CONTENDER_URL"
	contenderName  = "NEXTRUN_TEST_CONTENDER_NAME"
	contenderTTL   = "NEXTRUN_TEST_CONTENDER_TTL"
	contenderClock = "NEXTRUN_TEST_CONTENDER_CLOCK" // file with the step of SQLite's clock
	contenderPolls = "NEXTRUN_TEST_CONTENDER_POLLS" // not empty: it is not notified
)

// TestContender is no test but a process of others: a scheduler in mode leader
// that ends with its standard input.
func TestContender(t *testing.T) {
	url := os.Getenv(contenderURL)
	if url == "" {
		return
	}
	ttl, err := time.ParseDuration(os.Getenv(contenderTTL))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(context.Background(), url, store.Options{
		StatementTimeout: ttl / 2, IdleTimeout: ttl / 2, LockTimeout: ttl / 2, MaxConns: 2,
		PollOnly: os.Getenv(contenderPolls) != "", Clock: steppedClock(url, os.Getenv(contenderClock)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	log := logrus.New()
	log.SetOutput(os.Stderr)
	s, err := periodic.New(db.Periodic(), periodic.Config{
		Name: os.Getenv(contenderName), Mode: periodic.ModeLeader,
		Lock: periodic.LockConfig{TTL: ttl}, Lease: time.Second, PollInterval: time.Second, RetryMax: time.Second, Logger: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := s.Stop(context.Background()); err != nil {
		t.Log(err)
	}
}

// steppedClock is the host's clock moved by the duration in a file.
func steppedClock(url, file string) func() time.Time {
	if strings.HasPrefix(url, "postgres") {
		return nil // which has a clock of its own
	}
	return func() time.Time {
		text, _ := os.ReadFile(file) // replaced as a whole; none: no step
		step, _ := time.ParseDuration(string(text))
		return time.Now().Add(step)
	}
}

// stepClock writes a file of steppedClock.
func stepClock(t testing.TB, file string, step time.Duration) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(step.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// process is a contender as its parent sees it.
type process struct {
	name    string
	command *exec.Cmd
	stdin   io.WriteCloser
	said    *bytes.Buffer
	ended   chan struct{}
	paused  chan struct{} // closed when a pause is over; nil: none was
}

// startContender starts a process.
func startContender(t testing.TB, url, name, clock string, ttl time.Duration, polls bool) *process {
	t.Helper()
	p := &process{name: name, said: &bytes.Buffer{}, ended: make(chan struct{})}
	p.command = exec.Command(os.Args[0], "-test.run=^TestContender$")
	p.command.Env = append(os.Environ(), contenderURL+"="+url, contenderName+"="+name,
		contenderTTL+"="+ttl.String(), contenderClock+"="+clock, contenderPolls+"="+map[bool]string{true: "yes"}[polls],
		"GOMAXPROCS=1", "GORACE=atexit_sleep_ms=0")
	p.command.Dir = filepath.Dir(os.Args[0])
	p.command.Stdout, p.command.Stderr = p.said, p.said
	var err error
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait() // it is killed, mostly
	}()
	return p
}

func (p *process) pid() int { return p.command.Process.Pid }

// kill ends a process like a crash, and waits.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// leave asks a process to stop cleanly, and waits.
func (p *process) leave() {
	_ = p.stdin.Close()
	<-p.ended
}

// pause stops a process for a time, as a suspended container or a long swap
// does; it does not wait.
func (p *process) pause(d time.Duration) {
	p.paused = make(chan struct{})
	_ = p.command.Process.Signal(syscall.SIGSTOP)
	go func() {
		defer close(p.paused)
		select {
		case <-time.After(d):
		case <-p.ended:
		}
		_ = p.command.Process.Signal(syscall.SIGCONT)
	}()
}

// resumed waits for the end of a pause.
func (p *process) resumed() {
	if p.paused != nil {
		<-p.paused
	}
}

// rested reports whether the process is not in a pause.
func (p *process) rested() bool {
	if p.paused == nil {
		return true
	}
	select {
	case <-p.paused:
		return true
	default:
		return false
	}
}

// raced reports whether the race detector of a process found something.
func (p *process) raced() bool { return strings.Contains(p.said.String(), "DATA RACE") }

// soakNumber reads a number that makes a test longer.
func soakNumber(variable string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return otherwise
}
