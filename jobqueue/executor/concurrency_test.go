package executor_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
)

// meter counts how many handlers run at once, of each of some names.
type meter struct {
	mu            sync.Mutex
	running, most map[string]int
	done          map[string]int
}

func newMeter() *meter {
	return &meter{running: map[string]int{}, most: map[string]int{}, done: map[string]int{}}
}

// handler counts a job under its group and under its tracker.
func (m *meter) handler(ctx context.Context, job *jobqueue.JobContext) error {
	m.change(job, 1)
	defer m.change(job, -1)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(5 * time.Millisecond):
		return nil
	}
}

func (m *meter) change(job *jobqueue.JobContext, by int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range []string{"task " + job.Task, "group " + job.Group, "tracker " + job.Tracker} {
		m.running[name] += by
		m.most[name] = max(m.most[name], m.running[name])
		if by < 0 {
			m.done[name]++
		}
	}
}

// Four executors claim at once, on connections of their own, and never run more jobs
// than a limit allows: of a group, of a handler, and of a periodic task. Each job runs once.
func TestLimitsHoldOverAllExecutors(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		q.sql("INSERT INTO job_limit (kind, name, max) VALUES ('handler', 'two', 2), ('group', 'three', 3), ('task', 'one', 1)")
		var jobs []jobqueue.Job
		const each = 40
		for i := range each {
			jobs = append(jobs,
				jobqueue.Job{Task: "two", Group: fmt.Sprintf("g%d", i%7)},
				jobqueue.Job{Task: "free", Group: "three"},
				jobqueue.Job{Task: "free", Group: "tracked", Tracker: "one"},
				jobqueue.Job{Task: "free", Group: "tracked", Tracker: fmt.Sprintf("t%d", i)})
		}
		q.submit(jobs...)
		m := newMeter()
		var executors []*newExecutor
		for range 4 {
			e := q.executorOn(q.Open().Jobs(), executor.Config{PoolSize: 20}, map[string]jobqueue.Handler{"two": m.handler, "free": m.handler})
			executors = append(executors, e)
		}
		for _, e := range executors {
			e.start()
		}
		storetest.Eventually(q, "the end of all jobs", func() bool {
			return q.value("SELECT count(*) FROM job WHERE state <> 'success'") == "0"
		})
		m.mu.Lock()
		defer m.mu.Unlock()
		for name, most := range map[string]int{"task two": 2, "group three": 3, "tracker one": 1} {
			if m.done[name] != each || m.most[name] > most {
				t.Errorf("%s: %d jobs, at most %d at once; want %d, and at most %d at once", name, m.done[name], m.most[name], each, most)
			}
		}
		if n := m.done["task free"]; n != 3*each {
			t.Errorf("%d jobs were run %d times", 3*each, n)
		}
	})
}

// Jobs beyond a limit, older than all others and more than a claim looks at, hold up no
// job of another handler, group or task.
func TestJobsBeyondALimitHoldUpNoOthers(t *testing.T) {
	for name, held := range map[string]jobqueue.Job{
		"handler": {Task: "held"},
		"group":   {Task: "free", Group: "held"},
		"task":    {Task: "free", Tracker: "held"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, q *fixture) {
				q.sql("INSERT INTO job_limit (kind, name, max) VALUES ('handler', 'held', 1), ('group', 'held', 1), ('task', 'held', 1)")
				jobs := slices.Repeat([]jobqueue.Job{held}, 100)
				if name == "task" { // in more groups than a claim looks at
					for i := range jobs {
						jobs[i].Group = fmt.Sprintf("g%d", i%8)
					}
				}
				q.submit(jobs...)
				begun, end := make(chan string, 200), make(chan struct{})
				h := func(ctx context.Context, job *jobqueue.JobContext) error {
					begun <- job.Subject
					if job.Subject == "" {
						<-end
					}
					return nil
				}
				e := q.run(executor.Config{PoolSize: 3}, map[string]jobqueue.Handler{"held": h, "free": h})
				if got := receive(q, begun, "the first job"); got != "" {
					t.Errorf("%s began first", got)
				}
				jid := q.submit(jobqueue.Job{Task: "free", Group: "z", Subject: "other"})[0]
				e.awaitEnd(jid, jobqueue.Success)
				if running := q.value("SELECT count(*) FROM job WHERE state = 'running'"); running != "1" {
					t.Errorf("%s jobs run", running)
				}
				close(end)
				e.await(101, "of success", ended(jobqueue.Success))
			})
		})
	}
}
