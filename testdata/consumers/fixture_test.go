package consumers_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// queue is a queue that nextrun feeds, with the program of its real worker.
type queue struct {
	sink     string // its name in the configuration, and the tasks' sink
	database string // the kind of database
	config   string // the value of its entry in the section queues
	// program is the worker's command line, to which "migrate" or "work" is added.
	program func(t testing.TB) []string
	dir     string   // where the program runs
	env     []string // beside DATABASE_URL and POLL_MS
	groups  []string // the tasks' group_; empty: the default
	// poll is the worker's time between two looks for jobs. Where a notification
	// wakes it, this is long, so that a notification that is lost shows.
	poll time.Duration
	// unfinished is a query for the jobs that are not final. Its column task is
	// the periodic task's id, which the args hold.
	unfinished string
	// cancelled is a query for the jids of cancelled jobs; "" if such jobs vanish.
	cancelled string
	// kept is a query for the columns task and due of all jobs, final ones as well;
	// "" if such jobs vanish.
	kept string
}

// fixture is a database with the tables of nextrun and of a queue, and the
// processes that use it.
type fixture struct {
	*storetest.Database
	queue     queue
	config    string // the file
	processes map[string]*process
	work      *journal // of all the workers, one after the other
}

type process struct {
	*exec.Cmd
	errors bytes.Buffer
	done   chan struct{} // closed when it has ended
	err    error         // of Wait
}

// newFixture makes the tables, those of the queue by its own migrations.
func newFixture(t testing.TB, q queue) *fixture {
	t.Helper()
	d := storetest.New(t, q.database)
	f := &fixture{
		Database: d, queue: q, config: filepath.Join(t.TempDir(), "nextrun.yaml"),
		processes: map[string]*process{}, work: &journal{ready: make(chan struct{}, 10)},
	}
	text := "scheduler:\n  lease: 2s\nqueues:\n  " + q.sink + ": " + q.config + "\n"
	if err := os.WriteFile(f.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f.output(f.nextrun("migrate", "up"))
	f.output(f.worker("migrate"))
	return f
}

// nextrun is a command of the program from this repository.
func (f *fixture) nextrun(args ...string) *exec.Cmd {
	f.Helper()
	c := exec.Command(built(f, "./cmd/nextrun", "../.."), args...)
	c.Env = append(os.Environ(), "NEXTRUN_DB="+f.URL, "NEXTRUN_CONFIG="+f.config)
	return c
}

func (f *fixture) worker(args ...string) *exec.Cmd {
	f.Helper()
	line := append(f.queue.program(f), args...)
	c := exec.Command(line[0], line[1:]...)
	c.Dir = f.queue.dir
	c.Env = append(append(os.Environ(), "DATABASE_URL="+f.URL, "POLL_MS="+strconv.FormatInt(f.queue.poll.Milliseconds(), 10)),
		f.queue.env...)
	return c
}

// output runs a command that has to succeed.
func (f *fixture) output(c *exec.Cmd) string {
	f.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		f.Fatalf("%s: %v\n%s", c, err, out)
	}
	return string(out)
}

// startScheduler starts a process `nextrun scheduler`.
func (f *fixture) startScheduler(name string) {
	f.Helper()
	f.start(name, f.nextrun("scheduler", "--name", name, "--log-level", "warning"))
}

// startWorker starts the queue's worker and waits until it is ready.
func (f *fixture) startWorker() {
	f.Helper()
	c := f.worker("work")
	c.Stdout = f.work
	f.start("worker", c)
	select {
	case <-f.work.ready:
	case <-f.processes["worker"].done:
		f.Fatalf("the worker ended: %v\n%s", f.processes["worker"].err, f.processes["worker"].errors.String())
	case <-time.After(storetest.Patience):
		f.Fatal("the worker does not become ready")
	}
}

func (f *fixture) start(name string, c *exec.Cmd) {
	f.Helper()
	p := &process{Cmd: c, done: make(chan struct{})}
	c.Stderr = &p.errors
	if c.Stdout == nil {
		c.Stdout = &p.errors
	}
	tie(c)
	if err := c.Start(); err != nil {
		f.Fatal(err)
	}
	go func() {
		p.err = c.Wait()
		close(p.done)
	}()
	f.processes[name] = p
	f.Cleanup(func() {
		_ = c.Process.Kill()
		<-p.done
		if f.Failed() {
			f.Logf("%s said:\n%s", name, tail(p.errors.String()))
		}
	})
}

func tail(text string) string {
	if len(text) > 4000 {
		return "..." + text[len(text)-4000:]
	}
	return text
}

// kill ends a process as a crash would.
func (f *fixture) kill(name string) {
	_ = f.processes[name].Process.Kill()
	<-f.processes[name].done
}

// stop asks a process to end, and fails if it does not end well.
func (f *fixture) stop(name string) {
	f.Helper()
	p := f.processes[name]
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		f.Fatalf("%s: %v\n%s", name, err, tail(p.errors.String()))
	}
	select {
	case <-p.done:
	case <-time.After(storetest.Patience):
		f.Fatalf("%s does not end", name)
	}
	if p.err != nil {
		f.Errorf("%s: %v\n%s", name, p.err, tail(p.errors.String()))
	}
}

var binaries = struct {
	sync.Mutex
	paths map[string]string
	dir   string
}{paths: map[string]string{}}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "consumers")
	if err != nil {
		panic(err)
	}
	binaries.dir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// built builds a program once, with the modules of a directory.
func built(t testing.TB, pkg, dir string) string {
	t.Helper()
	binaries.Lock()
	defer binaries.Unlock()
	if path := binaries.paths[pkg+dir]; path != "" {
		return path
	}
	path := filepath.Join(binaries.dir, strings.NewReplacer("/", "-", ".", "-").Replace(pkg+dir))
	c := exec.Command("go", "build", "-o", path, pkg)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	binaries.paths[pkg+dir] = path
	return path
}
