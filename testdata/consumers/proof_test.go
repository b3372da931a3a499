package consumers_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

const (
	tasks    = 200
	warmup   = 3 * time.Second // until the timers begin, all processes run
	duration = 10 * time.Second
)

var policies = []string{"skip", "queue", "replace", "allow"}

// periods are how often tasks are due, in the notations of timers.
var periods = []struct {
	seconds int
	timer   string
}{{1, "*:*:*"}, {2, "*:*:0/2"}, {2, "*/2 * * * * *"}, {3, "every 3s"}}

// prove feeds a queue from many tasks by two schedulers, of which one is killed,
// and lets its real worker run the jobs, which is started again meanwhile. The
// worker ends its jobs before it stops: those of a killed worker are the queue's
// to rescue, which takes many of them an hour. Then it checks what became of
// every tick and job, and how soon a worker begins one.
func prove(t *testing.T, q queue) {
	p := &proof{fixture: newFixture(t, q)}
	p.startWorker()
	p.startScheduler("scheduler-1")
	p.startScheduler("scheduler-2")
	p.insertTasks()
	stop := p.watch()

	p.until(p.begin.Add(duration / 3))
	p.kill("scheduler-1")
	p.until(p.begin.Add(duration / 2))
	p.startScheduler("scheduler-1")
	p.stop("worker")
	p.until(time.Now().Add(time.Second)) // jobs wait, which `replace` may cancel
	p.startWorker()
	p.until(p.begin.Add(duration))
	p.drain()
	stop()
	p.check()

	p.burst()
	p.stop("scheduler-1")
	p.stop("scheduler-2")
	p.stop("worker")
}

// proof is one such run.
type proof struct {
	*fixture
	begin    time.Time // from then on tasks are due, for the duration
	tasks    []proofTask
	overlaps []string // what watch saw
	errors   map[string]int
}

type proofTask struct {
	id, overlap, timer string
	args               proofArgs
}

// insertTasks inserts tasks of all policies and periods. The jobs of every third
// take longer than its period.
func (p *proof) insertTasks() {
	p.Helper()
	p.begin = time.Now().UTC().Truncate(time.Second).Add(warmup)
	var rows []string
	var values []any
	for i := range tasks {
		period := periods[i/len(policies)%len(periods)]
		t := proofTask{id: fmt.Sprintf("task-%d", i), overlap: policies[i%len(policies)], timer: period.timer}
		t.args = proofArgs{
			Task: t.id, Text: fmt.Sprintf(`%d "Zoë's" \ ☂`, i), MS: []int{20, 300, period.seconds * 1200}[i/16%3],
		}
		p.tasks = append(p.tasks, t)
		catchup := "one"
		if i%5 == 0 {
			catchup = "all"
		}
		group := "default"
		if n := len(p.queue.groups); n > 0 {
			group = p.queue.groups[i/3%n]
		}
		rows = append(rows, "(?, 'proof', ?, ?, ?, ?, ?, ?, ?, ?)")
		values = append(values, t.id, group, t.args.String(), t.timer, t.overlap, catchup, p.queue.sink, p.time(p.begin), p.time(p.begin.Add(duration)))
	}
	p.Exec("INSERT INTO periodic_task (id, task, group_, args, timer, overlap, catchup, sink, starts, ends) VALUES "+strings.Join(rows, ", "), values...)
}

// time writes a time as the database keeps it.
func (f *fixture) time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

// until waits in real time: the processes are real.
func (f *fixture) until(t time.Time) { time.Sleep(time.Until(t)) }

// watch looks again and again for tasks with two jobs that are not final, of
// those that must not overlap. Each look is one snapshot of the database.
func (p *proof) watch() (stop func()) {
	query := "SELECT u.task FROM (" + p.queue.unfinished + ") AS u JOIN periodic_task AS t ON t.id = u.task" +
		" WHERE t.overlap <> 'allow' GROUP BY u.task HAVING count(*) > 1"
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(100 * time.Millisecond); ; {
			var found []string
			if err := p.SQL.Select(&found, query); err != nil {
				found = []string{err.Error()}
			}
			p.overlaps = append(p.overlaps, found...)
			select {
			case <-ticker.C:
			case <-end:
				ticker.Stop()
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

// drain waits until the last ticks are submitted and the last jobs have ended.
func (p *proof) drain() {
	p.Helper()
	p.none("tasks that are due again", "SELECT count(*) FROM periodic_task WHERE nextrun < '9999-01-01'")
	p.none("jobs that are not final", "SELECT count(*) FROM ("+p.queue.unfinished+") AS u")
	p.none("marks", "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
}

func (f *fixture) none(what, query string) {
	f.Helper()
	n := ""
	for late := time.Now().Add(2 * storetest.Patience); ; time.Sleep(100 * time.Millisecond) {
		if n = f.One(query); n == "0" {
			return
		}
		if time.Now().After(late) {
			f.Fatalf("%s: %s", what, n)
		}
	}
}

// burst lets many tasks fall due at once, and measures the time from the commit
// until the worker begins the first job. The goal is 200 ms; what is allowed is far below
// the time between two looks of a worker that no notification wakes.
func (p *proof) burst() {
	p.Helper()
	bursts := 0
	storetest.Punctual(p, "the first job of a burst", func() []time.Duration {
		bursts++
		return []time.Duration{p.oneBurst(fmt.Sprintf("burst-%d-", bursts))}
	})
}

// oneBurst returns how soon after the commit the first job began.
func (p *proof) oneBurst(prefix string) time.Duration {
	p.Helper()
	const size = 200
	if p.queue.poll > time.Second {
		p.until(time.Now().Add(time.Second)) // the worker is idle
	}
	var rows []string
	var values []any
	for i := range size {
		rows = append(rows, "(?, 'proof', ?, '2099-01-01', ?, ?)")
		id := prefix + strconv.Itoa(i)
		values = append(values, id, proofArgs{Task: id, Text: id}.String(), p.queue.sink, p.time(time.Now()))
	}
	p.Exec("INSERT INTO periodic_task (id, task, args, timer, sink, nextrun) VALUES "+strings.Join(rows, ", "), values...)
	var before time.Time // the last look before the commit
	for late := time.Now().Add(storetest.Patience); ; time.Sleep(time.Millisecond) {
		looked := time.Now()
		if p.One("SELECT count(*) FROM periodic_tick WHERE task_id LIKE ? AND decision = 'submitted'", prefix+"%") != "0" {
			break
		}
		if before = looked; before.After(late) {
			p.Fatal("the burst is not submitted")
		}
	}
	var first time.Time
	storetest.Eventually(p, "the worker runs the burst", func() bool {
		n := 0
		first = time.Time{}
		for _, w := range p.work.all() {
			if strings.HasPrefix(w.args.Task, prefix) {
				n++
				if first.IsZero() || w.at.Before(first) {
					first = w.at
				}
			}
		}
		return n == size
	})
	took := first.Sub(before)
	p.Logf("the first of %d jobs began at most %d ms after the commit", size, took.Milliseconds())
	return took
}
