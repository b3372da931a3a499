//go:build crashpoints && linux

package crash_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/crash"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

func TestMain(m *testing.M) {
	crash.Main()
	migrated.VerifyTestMain(m)
}

// ways are how the processes run, one after the other.
var ways = []way{{"shared", false}, {"shared", true}, {"leader", false}}

// TestCrashPoints ends a process at its steps, and stops it beyond its leases. Another one takes over. Nothing is lost or done twice,
// by our own count and by nextrun's. NEXTRUN_CRASH_RUNS=20 does so at twenty steps of each way to run, each in its part of all steps;
// without it, at each step. NEXTRUN_CRASH_STEP=17 does so at one step.
func TestCrashPoints(t *testing.T) {
	seed := setting(t, "NEXTRUN_CRASH_SEED", int(time.Now().Unix()%1_000_000))
	t.Logf("seed %d", seed)
	for i, w := range ways {
		for _, kind := range kinds(i + seed) {
			t.Run(fmt.Sprintf("%s/foreign=%t/%s", w.mode, w.foreign, kind), func(t *testing.T) {
				t.Parallel()
				steps := countSteps(t, kind, w)
				runs, came := setting(t, "NEXTRUN_CRASH_RUNS", steps), atomic.Int64{}
				t.Cleanup(func() {
					n := int(came.Load())
					if t.Logf("of %d processes, %d came to their step", runs, n); n < runs/2 {
						t.Error("too few came to their step")
					}
				})
				for n, step := range chosen(steps, runs, rand.New(rand.NewPCG(uint64(seed), uint64(i)))) {
					t.Run(strconv.Itoa(step), func(t *testing.T) {
						t.Parallel()
						c := &crashes{place: newPlace(t, kind, w), stop: (n+seed)%stopEvery == 0, step: setting(t, "NEXTRUN_CRASH_STEP", step)}
						if c.once().hasReached() {
							came.Add(1)
						}
					})
				}
			})
		}
	}
}

// chosen are so many steps, one of each part of all.
func chosen(steps, runs int, r *rand.Rand) (list []int) {
	for i := range runs {
		from, to := i*steps/runs, (i+1)*steps/runs
		list = append(list, 1+from+r.IntN(max(to-from, 1)))
	}
	return list
}

// countSteps counts the steps of a process that nothing happens to.
func countSteps(t *testing.T, kind string, w way) int {
	t.Helper()
	c := &crashes{place: newPlace(t, kind, w)}
	a := c.once()
	if a.steps < 100 {
		t.Fatalf("a process has %d steps:\n%s", a.steps, a.output())
	}
	t.Logf("a process has %d steps", a.steps)
	return a.steps
}

// crashes are a process that ends or stops itself, and what becomes of its work.
type crashes struct {
	*place
	stop   bool
	step   int
	prefix string
	first  time.Time // tick of the tasks
	left   string    // of the work, when quiet asked last
}

// lastStep is the one at which a process is asked to stop. By then all of its parts have worked.
const lastStep = 2000

// stopEvery is how often a run stops the process instead of ending it.
const stopEvery = 4

// once lets a process come to its step, and another one take over.
func (c *crashes) once() *process {
	c.t.Helper()
	c.prefix = "r-"
	c.first = c.fill(c.prefix)
	a := c.serve("a", crash.Place{Step: c.step, Stop: c.stop, Last: lastStep})
	defer a.kill()
	c.await("the step, or the end of the process", nil, func() bool {
		c.consume(slowJob)
		return a.hasReached() || a.hasEnded()
	})
	reached := a.hasReached()
	if !reached || !c.stop {
		<-a.ended
	}
	b := c.serve("b", crash.Place{})
	defer b.kill()
	b = c.takeOver(a, b, reached && c.stop)
	c.end(a, b)
	c.check(a, b, reached)
	return a
}

// takeOver waits until b does all the work, and if a was stopped, until a has found out
// after it went on. It returns b, or the process that was started in its place.
func (c *crashes) takeOver(a, b *process, paused bool) *process {
	c.t.Helper()
	if paused {
		beyond := time.Now().Add(silence)
		if c.mode == "leader" {
			beyond = beyond.Add(4 * time.Second)
		}
		after := time.Now()
		// On SQLite nobody can write while it is stopped in a transaction.
		c.await("another instance to take over", []*process{b}, func() bool {
			return time.Now().After(beyond) && (c.Kind == storetest.SQLite || c.ticking(after))
		})
		a.signal(syscall.SIGCONT)
		c.await("the start of another instance", []*process{b}, func() bool { return b.hasStarted() || b.hasEnded() })
		if !b.hasStarted() { // the file was locked; whoever starts services tries again
			b = c.serve("b", crash.Place{})
		}
	}
	after := time.Now()
	c.await("ticks of all tasks", []*process{a, b}, func() bool { return c.ticking(after) })
	return b
}

// ticking reports whether all tasks have ticks after a time.
func (c *crashes) ticking(after time.Time) bool {
	c.consume(slowJob)
	return c.count(`SELECT count(*) FROM (SELECT task_id, max(coalesce(until, due)) AS last FROM periodic_tick
		WHERE task_id LIKE '`+c.prefix+`%' GROUP BY task_id) AS t WHERE last >= ?`, timestamp(after)) >= len(c.tasks())
}

// consume does the work of the other queue, as far as it is as old as this.
func (c *crashes) consume(age time.Duration) {
	if c.foreign { // unless a stopped process has the file locked
		_, _ = c.worker.Exec(c.SQL.Rebind(`UPDATE mail SET done = true WHERE NOT done AND due <= ?`), timestamp(time.Now().Add(-age)))
	}
}

// end ends the tasks, waits until all is done, and stops the processes.
func (c *crashes) end(a, b *process) {
	c.Exec(`UPDATE periodic_task SET ends = ? WHERE id LIKE ?`, timestamp(time.Now()), c.prefix+"%")
	defer func() {
		if c.t.Failed() {
			c.t.Logf("left when it was asked last: %s", c.left)
		}
	}()
	c.await("the end of all work", []*process{a, b}, c.quiet)
	for _, p := range []*process{a, b} {
		p.signal(syscall.SIGTERM)
	}
	c.await("the processes to stop", nil, func() bool { return a.hasEnded() && b.hasEnded() })
}

// setting is a number of the environment.
func setting(t *testing.T, name string, value int) int {
	t.Helper()
	if text := os.Getenv(name); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s is %q: %v", name, text, err)
		}
		return n
	}
	return value
}

// kinds are the databases: both, that of NEXTRUN_CRASH_DATABASE, or one after the other if it is "alternate".
func kinds(n int) []string {
	all := []string{storetest.SQLite, storetest.Postgres}
	switch one := os.Getenv("NEXTRUN_CRASH_DATABASE"); one {
	case "":
		return all
	case "alternate":
		return all[n%2:][:1]
	default:
		return []string{one}
	}
}

func exitCode(err error) int {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -2
	}
	return 0
}
