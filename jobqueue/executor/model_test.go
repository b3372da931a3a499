package executor

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/explore"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// A model of two executors and one job, in the manner of periodic/scheduler/internal/model
// (docs/internals/model.md). What to do with an attempt, with the end of a handler and with a job that
// nobody has is decided by the real code: attempt.after and policy.

var flagModelStates = flag.Int("model.states", 3_000, "states of the model to visit")

// jobFence is a condition of a statement that a test takes out.
type jobFence string

const (
	workerCheck  jobFence = "a transition names the worker"
	stateCheck   jobFence = "a transition names the state"
	beatCheck    jobFence = "a job of a worker that is taken for dead is rescued only if its beat is still that"
	claimCheck   jobFence = "a claim takes waiting jobs only"
	attemptCheck jobFence = "a worker forgets its older attempt at a job that it claims again"
)

const (
	ruleOurs = "an attempt recorded its end although another one has the job"
	ruleLive = "a job was taken from a worker that had beaten since"
	ruleEnd  = "a job that was final has changed"
	ruleDone = "a healthy executor does not bring the job to its end"
)

var policy = Config{RetryLimit: 1, RetryDelay: time.Minute, RetryCap: time.Minute, MaxInterrupts: 3}

// try is an attempt as a worker knows it. The model calls the real attempt with it.
type try struct {
	n       int // which one of the job it is
	phase   phase
	job     jobqueue.Job
	end     exchange.Transition
	cause   error
	handler bool
}

func (a try) after(s exchange.JobStatus, worker string) step {
	return (&attempt{phase: a.phase, end: a.end}).after(s, worker)
}

// executor is a process.
type executor struct {
	up        bool
	boot      int
	tries     []try // the last one is in flight unless it is lost
	replyLost bool
	beat      int
	suspect   *jobqueue.Job // that it is about to rescue
	seen      int           // the beat of its worker when it was taken for dead
}

// jobWorld is a state of the model.
type jobWorld struct {
	out   jobFence
	now   int
	job   jobqueue.Job
	n     int // attempts so far
	procs [2]executor
	steps struct{ clock, crash, lost, presume, cancel int }

	broken string
}

func minute(n int) time.Time { return time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC) }

func (w *jobWorld) id(p int) string { return fmt.Sprintf("%c@%d", 'A'+p, w.procs[p].boot) }

func (w *jobWorld) Broken() string {
	if w.broken == "" && w.out == "" {
		w.finish()
	}
	return w.broken
}

func (w *jobWorld) Key() (key [16]byte) {
	h := fnv.New128a()
	job := func(j *jobqueue.Job) {
		_, _ = fmt.Fprint(h, j.State, j.Worker, j.Retry.Unix(), j.Retries, j.Interrupts, j.Cancel.IsZero(), ";")
	}
	_, _ = fmt.Fprint(h, w.now, w.n, w.steps, w.broken, ";")
	job(&w.job)
	for p := range w.procs {
		x := &w.procs[p]
		_, _ = fmt.Fprint(h, x.up, x.boot, x.replyLost, x.beat, x.seen, ";")
		for _, a := range x.tries {
			_, _ = fmt.Fprint(h, a.n, a.phase, a.end.To, a.cause, a.handler, a.job.Retries, ";")
		}
		if x.suspect != nil {
			job(x.suspect)
		}
	}
	h.Sum(key[:0])
	return key
}

// transition is transitions in store/internal/queue/sync.go: it moves the job if state,
// worker and its beat are as the transition says, and nobody has asked to cancel a
// job that is to be tried again.
func (w *jobWorld) transition(t exchange.Transition) bool {
	j := &w.job
	switch {
	case j.State != t.From && w.out != stateCheck, j.Worker != t.Worker && w.out != workerCheck:
		return false
	case !j.Cancel.IsZero() && (t.To == jobqueue.Waiting || t.To == jobqueue.Stuck):
		return false
	case t.From == jobqueue.Stuck && j.Retry.IsZero() && w.out != stateCheck:
		return false
	case t.Dead && w.beat(t.Worker) != int(t.Beat) && w.out != beatCheck:
		return false
	}
	if j.State.Final() {
		w.broken = ruleEnd
	}
	j.State, j.Retry = t.To, time.Time{}
	if t.To == jobqueue.Stuck {
		j.Retries++
		j.Retry = minute(w.now + 1)
	}
	if t.To == jobqueue.Waiting {
		j.Worker = ""
	}
	if t.Interrupted {
		j.Interrupts++
	}
	return true
}

// claim is takeSQL: a waiting job runs, or is cancelled if somebody has asked for that.
func (w *jobWorld) claim(worker string) bool {
	j := &w.job
	if j.State != jobqueue.Waiting && w.out != claimCheck || j.State.Final() {
		return false
	}
	j.Worker, j.Retry = worker, time.Time{}
	if !j.Cancel.IsZero() {
		j.State = jobqueue.Cancelled
		return true
	}
	j.State = jobqueue.Running
	w.n++
	return true
}

// status is what Sync says of the job.
func (w *jobWorld) status() exchange.JobStatus {
	return exchange.JobStatus{State: w.job.State, Worker: w.job.Worker, Cancel: !w.job.Cancel.IsZero()}
}

// beat is that of a worker; those that were there before have none.
func (w *jobWorld) beat(worker string) int {
	for p := range w.procs {
		if w.id(p) == worker {
			return w.procs[p].beat
		}
	}
	return -1
}

// finish lets one healthy executor work for a while.
func (w *jobWorld) finish() {
	c := *w
	for range 12 {
		c.now += 3
		switch j := c.job; {
		case j.State == jobqueue.Waiting:
			if c.claim("C@1"); c.job.State == jobqueue.Running {
				t := policy.decide(c.job, outcome{}, 0.5)
				t.Worker = "C@1"
				c.transition(t)
			}
		case hasWorker(j):
			c.transition(policy.workerDied(j, int64(c.beat(j.Worker))))
		case j.State == jobqueue.Stuck:
			c.transition(policy.retryDue(j))
		}
	}
	if !c.job.State.Final() {
		w.broken = ruleDone + ": it is " + string(c.job.State)
	}
}

// The rules that the tests check, and the fences without which they are broken.
func TestModelOfExecutors(t *testing.T) {
	r := explore.All(newJobWorld(""), explore.Bounds{States: *flagModelStates})
	t.Logf("%s", &r)
	if r.Broken != "" {
		t.Fail()
	}
}

func TestFencesOfJobs(t *testing.T) {
	for _, f := range []struct {
		out    jobFence
		broken string
	}{
		{workerCheck, ruleOurs}, {stateCheck, ruleEnd}, {beatCheck, ruleLive}, {claimCheck, ruleLive}, {attemptCheck, ruleOurs},
	} {
		t.Run(string(f.out), func(t *testing.T) {
			r := explore.All(newJobWorld(f.out), explore.Bounds{States: 200_000})
			t.Logf("%s", &r)
			if !strings.HasPrefix(r.Broken, f.broken) {
				t.Fail()
			}
		})
	}
}

func newJobWorld(out jobFence) *jobWorld {
	w := &jobWorld{out: out, job: jobqueue.Job{JID: "j", State: jobqueue.Waiting}}
	w.steps.clock, w.steps.crash, w.steps.lost, w.steps.presume, w.steps.cancel = 5, 1, 1, 1, 1
	for p := range w.procs {
		w.procs[p] = executor{up: true, boot: 1}
	}
	return w
}

var errHandler = errors.New("the handler failed")

func cloneJobWorld(w *jobWorld) *jobWorld {
	c := *w
	for p := range c.procs {
		c.procs[p].tries = slices.Clone(w.procs[p].tries)
	}
	return &c
}

// hasWorker reports whether a worker has the job, or had it when it died.
func hasWorker(j jobqueue.Job) bool {
	return j.State == jobqueue.Scheduled || j.State == jobqueue.Running
}
