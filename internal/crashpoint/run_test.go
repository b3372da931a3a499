//go:build crashpoints && linux

package crashpoint_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// TestCrashPoints ends a process at each point, and stops it beyond its leases. Another
// one takes over. Nothing is lost or done twice, by our own count and by nextrun check --guarantees.
func TestCrashPoints(t *testing.T) {
	runs, seed := setting(t, "NEXTRUN_CRASH_RUNS", 1), seed(t)
	part, parts := setting(t, "NEXTRUN_CRASH_PART", 1), setting(t, "NEXTRUN_CRASH_PARTS", 1)
	all := &totals{}
	t.Cleanup(func() { t.Logf("seed %d: %s", seed, all) })
	for i, point := range allPoints(t) {
		if (i+seed)%parts != part-1 {
			continue
		}
		for _, kind := range kinds(i/parts + seed) {
			t.Run(point+"/"+kind, func(t *testing.T) {
				t.Parallel()
				c := &crashes{place: newPlace(t, kind, wayTo(point)), point: point, rng: random(seed, point+kind)}
				c.phase = c.rng.IntN(stopEvery)
				defer all.add(c)
				c.many(runs)
			})
		}
	}
}

// crashes are the runs of one point on one database.
type crashes struct {
	*place
	point           string
	rng             *rand.Rand
	phase           int // which of the runs stop the process
	n               int // the run
	prefix          string
	first           time.Time // tick of the tasks of this run
	left            string    // of the work, when quiet asked last
	killed, stopped int
}

// patience is how long a process that has started has to come to its point before it is
// asked to stop.
const patience = 6 * time.Second

// stopEvery is how often a run stops the process instead of ending it.
const stopEvery = 4

// many makes runs until the point was reached often enough.
func (c *crashes) many(runs int) {
	for missed := 0; c.killed+c.stopped < runs; {
		c.n++
		stop := (c.n+c.phase)%stopEvery == 0
		if !c.once(stop) {
			if missed++; missed > 3*runs+5 {
				c.t.Errorf("the point was never reached, or too rarely: %d times in %d runs", c.killed+c.stopped, c.n)
				break
			}
			continue
		}
		if stop {
			c.stopped++
		} else {
			c.killed++
		}
		if c.t.Failed() {
			break
		}
	}
	c.t.Logf("killed %d times, stopped %d times, %d runs", c.killed, c.stopped, c.n)
}

// visit is which visit of the point counts in this run.
func (c *crashes) visit() int {
	if c.visits < 2 || c.visits <= 5 && c.n%2 == 1 {
		return 1
	}
	return 1 + c.rng.IntN(c.visits)
}

// once makes a run, and reports whether the process came to its point.
func (c *crashes) once(stop bool) bool {
	c.t.Helper()
	c.prefix = fmt.Sprintf("r%d-", c.n)
	action, visit := "kill", c.visit()
	if stop {
		action = "stop"
	}
	c.first = c.fill(c.prefix)
	if c.refuses != "" {
		c.refuse(c.refuses)
	}
	where := fmt.Sprintf("%s:%s:%d", action, c.point, visit)
	a := c.serve("a", where)
	defer a.kill()
	c.comeToPoint(a)
	reached := a.hasReached()
	if !reached {
		c.visits = min(c.visits, visit) / 2
		c.await("the end of a process that did not come to its point", nil, a.hasEnded)
	} else if !stop {
		<-a.ended
	}
	if c.refusing && !(reached && stop && c.Kind == storetest.SQLite) { // which has the file locked
		c.accept()
	}
	b := c.serve("b", "")
	defer b.kill()
	b = c.takeOver(a, b, reached && stop)
	c.end(a, b)
	c.check(a, b, reached)
	return reached
}

// comeToPoint waits until the process comes to its point, and asks it to stop if it does
// not, or has to for that.
func (c *crashes) comeToPoint(a *process) {
	select {
	case <-a.started:
	case <-a.reached:
		return
	case <-a.ended:
		return
	}
	late := time.Now().Add(patience)
	c.await("work of the process", []*process{a}, func() bool {
		c.consume(slowJob)
		return a.hasReached() || a.hasEnded() || time.Now().After(late) || c.stops && c.works()
	})
	if !a.hasReached() {
		a.signal(syscall.SIGTERM)
	}
	c.await("the point, or the end of the process", []*process{a}, func() bool { return a.hasReached() || a.hasEnded() })
}

// works reports whether a job runs, and a batch waits for its time.
func (c *crashes) works() bool {
	return c.count(`SELECT count(*) FROM job WHERE tracker LIKE '`+c.prefix+`%' AND state = 'running'`) > 0 &&
		c.count(`SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL AND nextrun > ? AND id LIKE '`+c.prefix+`%'`,
			timestamp(time.Now().Add(lease/8))) > 0
}

// takeOver waits until b does all the work, and if a was stopped, until a has found out
// after it went on. It returns b, or the process that was started in its place.
func (c *crashes) takeOver(a, b *process, paused bool) *process {
	c.t.Helper()
	if paused {
		beyond := time.Now().Add(2 * lease)
		if c.mode == "leader" {
			beyond = beyond.Add(4 * time.Second)
		}
		after := time.Now()
		// On SQLite nobody can write while it is stopped in a transaction.
		c.await("another instance to take over", []*process{b}, func() bool {
			return time.Now().After(beyond) && (c.Kind == storetest.SQLite || c.ticking(after))
		})
		a.signal(syscall.SIGCONT)
		if c.refusing {
			c.accept()
		}
		c.await("the start of another instance", []*process{b}, func() bool { return b.hasStarted() || b.hasEnded() })
		if !b.hasStarted() { // the file was locked; whoever starts services tries again
			b = c.serve("b", "")
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
