package executor

import (
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/internal/testkit/explore"
	"github.com/nextrun/nextrun/jobqueue"
)

// Actions implements explore.State.
func (w *jobWorld) Actions() (list []explore.Action[*jobWorld]) {
	add := func(name string, do func(w *jobWorld)) {
		list = append(list, explore.Action[*jobWorld]{Name: name, Next: func() *jobWorld {
			c := cloneJobWorld(w)
			do(c)
			return c
		}})
	}
	for p := range w.procs {
		w.process(p, func(what string, do func(w *jobWorld, x *executor)) {
			add(w.id(p)+" "+what, func(w *jobWorld) { do(w, &w.procs[p]) })
		})
	}
	if w.steps.clock > 0 {
		add(fmt.Sprintf("a minute passes: it is %d", w.now+1), func(w *jobWorld) { w.now++; w.steps.clock-- })
	}
	if w.steps.cancel > 0 && !w.job.State.Final() {
		add("a user asks to cancel the job", func(w *jobWorld) {
			w.steps.cancel--
			if w.job.Cancel = minute(w.now); !hasWorker(w.job) {
				w.job.State = jobqueue.Cancelled
			}
		})
	}
	return list
}

// process adds what an executor can do.
func (w *jobWorld) process(p int, add func(string, func(*jobWorld, *executor))) {
	x, me := &w.procs[p], w.id(p)
	if !x.up {
		add("starts again", func(_ *jobWorld, x *executor) { *x = executor{up: true, boot: x.boot + 1} })
		return
	}
	if w.steps.crash > 0 {
		add("is killed", func(w *jobWorld, x *executor) { w.steps.crash--; *x = executor{boot: x.boot, beat: x.beat} })
	}
	if probe := cloneJobWorld(w); !x.replyLost && probe.claim(me) {
		add("claims the job", func(w *jobWorld, x *executor) { w.claims(x, me) })
		if w.steps.lost > 0 {
			add("claims the job, and does not hear of it", func(w *jobWorld, x *executor) {
				w.steps.lost--
				w.takenAway(-1)
				w.claim(me)
				x.replyLost = true
			})
		}
	}
	if x.replyLost {
		add("unclaims jobs of a claim whose reply was lost", func(w *jobWorld, x *executor) {
			x.replyLost = false
			if j := &w.job; j.State == jobqueue.Running && j.Worker == me && j.Cancel.IsZero() && x.current() == nil {
				j.State, j.Worker = jobqueue.Waiting, ""
			}
		})
	}
	w.handlers(x, me, add)
	w.rescue(x, me, add)
}

// current is the attempt in flight.
func (x *executor) current() *try {
	if n := len(x.tries); n > 0 && x.tries[n-1].phase != lost {
		return &x.tries[n-1]
	}
	return nil
}

// claims claims the job and begins it, as flight.begin does: an older attempt is lost.
func (w *jobWorld) claims(x *executor, me string) {
	w.takenAway(-1)
	w.claim(me)
	if w.job.State != jobqueue.Running {
		return
	}
	if a := x.current(); a != nil && w.out != attemptCheck {
		x.apply(a, lose)
	}
	x.tries = append(x.tries, try{n: w.n, phase: running, job: w.job, handler: true})
}

// takenAway checks that whoever changes a running job may take it from its worker. seen is
// the worker's beat when it was taken for dead.
func (w *jobWorld) takenAway(seen int) {
	if hasWorker(w.job) && seen != w.beat(w.job.Worker) {
		w.broken = ruleLive
	}
}

// apply does in the model what flight.applyStatus does in the executor. It cancels the context of a
// handler that runs; the handler returns later, by an action of its own.
func (x *executor) apply(a *try, what step) {
	switch what {
	case stop:
		a.cause = jobqueue.ErrCancelled
	case turnCancel:
		a.end.To, a.end.Interrupted = jobqueue.Cancelled, false
	case lose:
		if a.cause == nil {
			a.cause = jobqueue.ErrLeaseLost
		}
		a.phase = lost
	case recorded:
		a.phase, a.handler = lost, false
	}
	x.tries = slices.DeleteFunc(x.tries, func(t try) bool { return t.phase == lost && !t.handler })
}

// handlers adds what becomes of attempts.
func (w *jobWorld) handlers(x *executor, me string, add func(string, func(*jobWorld, *executor))) {
	for n := range x.tries {
		a := x.tries[n]
		if !a.handler {
			continue
		}
		for _, err := range []error{nil, errHandler} {
			add(fmt.Sprintf("sees the handler of attempt %d return: %v", a.n, err), func(_ *jobWorld, x *executor) { x.returned(n, err, me) })
		}
	}
	a := x.current()
	if w.out == attemptCheck { // each attempt writes for itself
		for n := range x.tries {
			if x.tries[n].phase == returned {
				a = &x.tries[n]
			}
		}
	}
	if a == nil {
		return
	}
	which := a.n
	find := func(x *executor) *try {
		return &x.tries[slices.IndexFunc(x.tries, func(t try) bool { return t.n == which })]
	}
	add("compares its jobs", func(w *jobWorld, x *executor) { a := find(x); x.apply(a, a.after(w.status(), me)) })
	if x.beat < 2 {
		add("beats", func(_ *jobWorld, x *executor) { x.beat++ })
	}
	if a.phase == returned {
		add(fmt.Sprintf("records the end of attempt %d: %s", a.n, a.end.To), func(w *jobWorld, x *executor) { w.write(x, find(x), me, false) })
		if w.steps.lost > 0 {
			add(fmt.Sprintf("records the end of attempt %d: %s, and does not hear of it", a.n, a.end.To), func(w *jobWorld, x *executor) {
				w.steps.lost--
				w.write(x, find(x), me, true)
			})
		}
	}
}

// returned is flight.handlerReturned.
func (x *executor) returned(n int, err error, me string) {
	a := &x.tries[n]
	if a.handler = false; a.phase == lost {
		x.apply(a, keep)
		return
	}
	a.end = policy.decide(a.job, outcome{Err: err, Cause: a.cause}, 0.5)
	a.end.Worker, a.phase = me, returned
}

// write records the end of an attempt.
func (w *jobWorld) write(x *executor, a *try, me string, replyLost bool) {
	before := w.job
	if done := w.transition(a.end); done {
		if hasWorker(before) && a.n != w.n && w.begun(w.n) {
			w.broken = fmt.Sprintf("%s: attempt %d, while attempt %d runs", ruleOurs, a.n, w.n)
		}
		if !replyLost {
			x.apply(a, recorded)
		}
	} else if !replyLost {
		x.apply(a, a.after(w.status(), me))
	}
}

// begun reports whether an executor has begun an attempt: it has heard of its claim.
func (w *jobWorld) begun(n int) bool {
	return slices.ContainsFunc(w.procs[:], func(x executor) bool {
		return slices.ContainsFunc(x.tries, func(a try) bool { return a.n == n })
	})
}

// rescue adds the look for jobs of dead workers, and what follows.
func (w *jobWorld) rescue(x *executor, me string, add func(string, func(*jobWorld, *executor))) {
	if x.suspect != nil {
		add("rescues the job", func(w *jobWorld, x *executor) {
			t := policy.retryDue(*x.suspect)
			if hasWorker(*x.suspect) {
				t = policy.workerDied(*x.suspect, int64(x.seen))
			}
			before := cloneJobWorld(w)
			if w.transition(t) {
				before.takenAway(x.seen)
				if before.broken != "" && w.broken == "" {
					w.broken = before.broken
				}
			}
			x.suspect = nil
		})
		return
	}
	j := w.job
	see := func(what string, presume int) {
		add(what, func(w *jobWorld, x *executor) {
			w.steps.presume -= presume
			x.suspect, x.seen = &j, w.beat(j.Worker)
		})
	}
	ours := j.Worker == me && x.current() != nil
	switch {
	case j.State == jobqueue.Stuck && !j.Retry.After(minute(w.now)):
		see("sees that the time of the retry has come", 0)
	case !hasWorker(j), ours:
	case w.ended(j.Worker):
		see("finds that the worker has died", 0)
	case w.steps.presume > 0:
		see("takes the worker for dead", 1)
	}
}

func (w *jobWorld) ended(worker string) bool {
	for p := range w.procs {
		if w.procs[p].up && w.id(p) == worker {
			return false
		}
	}
	return true
}
