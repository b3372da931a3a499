package consumers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/program"
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
	processes map[string]*program.Process
	work      *journal // of all the workers, one after the other
}

// newFixture makes the tables, those of the queue by its own migrations.
func newFixture(t testing.TB, q queue) *fixture {
	t.Helper()
	d := storetest.New(t, q.database)
	f := &fixture{
		Database: d, queue: q, config: filepath.Join(t.TempDir(), "nextrun.yaml"),
		processes: map[string]*program.Process{}, work: &journal{ready: make(chan struct{}, 10)},
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
	c := exec.Command(program.Build(f, "../..", "./cmd/nextrun"), args...)
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
	storetest.Eventually(f, "the worker is ready", func() bool {
		if f.processes["worker"].Ended() {
			f.Fatalf("the worker ended:\n%s", f.processes["worker"].Said())
		}
		return len(f.work.ready) > 0
	})
	<-f.work.ready
}

func (f *fixture) start(name string, c *exec.Cmd) {
	f.Helper()
	tie(c)
	p := program.Start(f, c)
	f.processes[name] = p
	f.Cleanup(func() {
		if f.Failed() {
			f.Logf("%s said:\n%s", name, tail(p.Said()))
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
	f.Helper()
	f.processes[name].Signal(syscall.SIGKILL)
	f.processes[name].End()
}

// stop asks a process to end, and fails if it does not end well.
func (f *fixture) stop(name string) {
	f.Helper()
	p := f.processes[name]
	p.Signal(syscall.SIGTERM)
	if exit := p.End(); exit != 0 {
		f.Errorf("%s: exit code %d\n%s", name, exit, tail(p.Said()))
	}
}

func TestMain(m *testing.M) { program.Main(m) }

// installed are the workers of the directory node, which npm installs once.
var installed struct {
	once     sync.Once
	dir, out string
	err      error
}

// nodeWorker is a program of the directory node.
func nodeWorker(script string) func(t testing.TB) []string {
	return func(t testing.TB) []string {
		t.Helper()
		installed.once.Do(func() {
			if installed.dir, installed.err = filepath.Abs("node"); installed.err != nil {
				return
			}
			var out []byte
			out, installed.err = exec.Command(filepath.Join(installed.dir, "install")).CombinedOutput()
			installed.out = strings.TrimSpace(string(out))
		})
		if installed.err != nil {
			t.Fatalf("%s (%v)", installed.out, installed.err)
		}
		return []string{filepath.Join(installed.dir, "node_modules/.bin/node"), filepath.Join(installed.dir, script)}
	}
}

// released is a queue whose worker is of an older release.
func released(q queue, release string) queue {
	q.env = append([]string{"RELEASE=" + release}, q.env...)
	return q
}
