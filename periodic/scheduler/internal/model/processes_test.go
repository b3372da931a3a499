package model

import (
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/internal/testkit/explore"
)

type action = explore.Action[*world]

// actions gathers what can happen next in a state.
type actions struct {
	w    *world
	list []action
}

// add adds an action. do changes a copy of the state; false: it cannot happen.
func (a *actions) add(name string, do func(w *world) bool) {
	w := a.w
	a.list = append(a.list, action{Name: name, Next: func() *world {
		next := w.clone()
		if !do(next) {
			return w
		}
		if next.broken == "" {
			next.broken = next.rules()
		}
		return next
	}})
}

// Actions implements explore.State.
func (w *world) Actions() []action {
	a := &actions{w: w}
	for n := range w.instances {
		a.instance(n)
	}
	a.users()
	a.docspell()
	a.workers()
	a.clock()
	a.server()
	return a.list
}

// instance adds what a process can do. One that stands still does nothing: a process that
// is stopped for a while needs no action of its own.
func (a *actions) instance(n int) {
	i := &a.w.instances[n]
	do := func(what string, f func(w *world, i *instance) bool) {
		a.add(i.id()+" "+what, func(w *world) bool { return f(w, &w.instances[n]) })
	}
	switch {
	case !i.up:
		do("starts again", func(_ *world, i *instance) bool { i.up, i.boot = true, i.boot+1; return true })
		return
	case i.tx != nil:
		a.transaction(do, i, n)
	case !i.begun:
		do("starts: it removes the marks of its name", func(w *world, i *instance) bool {
			i.begun = true
			return w.clear(i, i.name)
		})
	default:
		a.lock(do, i)
		if !i.led || i.token != 0 {
			a.look(do, i)
			a.begin(do, i)
		}
	}
	if a.w.left.crash > 0 {
		do("is killed", func(w *world, i *instance) bool {
			w.left.crash--
			*i = instance{role: i.role, boot: i.boot}
			return true
		})
	}
}

// statement adds the next statement of a transaction, under the name of what it does.
func (a *actions) statement(n int) {
	w := a.w
	next := w.clone()
	before, i := len(w.instances[n].tx.calls), &next.instances[n]
	if !next.run(i, 1) {
		return // it waits for a lock
	}
	what := "ends its transaction without a change"
	if i.tx != nil {
		what = done(i.tx.calls[before:])
	}
	a.add(w.instances[n].id()+" "+what, func(w *world) bool { *w = *next; return true })
}

// done says what statements have done.
func done(calls []answer) string {
	words := map[string]string{
		"guard": "checks the lock", "claim": "reads the tasks", "pending": "asks for pending jobs", "ticks": "reads ticks",
		"advance": "moves the tasks on", "record": "records ticks", "submit": "submits jobs", "cancel": "cancels jobs",
		"plain": "moves the tasks on, records ticks and submits jobs in one statement",
	}
	var list []string
	for _, c := range calls {
		list = append(list, words[c.call])
	}
	return strings.Join(list, ", ") + " (not committed)"
}

type doing func(what string, f func(w *world, i *instance) bool)

// transaction adds what can become of an open transaction.
func (a *actions) transaction(do doing, i *instance, n int) {
	if !i.tx.done {
		a.statement(n)
	} else {
		do("commits: "+i.tx.kind, func(w *world, i *instance) bool { w.finish(i, false); return true })
		if a.w.left.lost > 0 {
			do("commits: "+i.tx.kind+", and does not hear of it", func(w *world, i *instance) bool {
				w.left.lost--
				w.finish(i, true)
				return true
			})
		}
	}
	if a.w.left.end > 0 {
		do("loses its transaction: "+i.tx.kind, func(w *world, i *instance) bool {
			w.left.end--
			i.end()
			return true
		})
	}
}

// The transactions of package batch.
const (
	take    = "takes what is due"
	prepare = "prepares what will be due"
	submit  = "submits what it has prepared"
)

// begin adds the transactions of package batch that can begin.
func (a *actions) begin(do doing, i *instance) {
	w := a.w
	start := func(kind string) { do(kind, func(w *world, i *instance) bool { return w.start(i, kind) }) }
	probe := &txn{now: at(w.now)}
	if w.anyClaimable(probe, taskdb.Claim{}) {
		start(take)
	}
	if i.held != nil {
		start(submit)
	} else if w.ahead && w.anyClaimable(probe, taskdb.Claim{Ahead: lead}) {
		start(prepare)
	}
}

func (w *world) anyClaimable(t *txn, c taskdb.Claim) bool {
	return slices.ContainsFunc(w.tables.tasks, func(r row) bool {
		return w.claimable(t, r, c)
	})
}

// start begins a transaction of the real code: with its first statement, or as a whole where
// transactions exclude each other.
func (w *world) start(i *instance, kind string) bool {
	if i.led && i.token == 0 {
		return false
	}
	i.tx = &txn{kind: kind, now: at(w.now)}
	if i.led {
		i.tx.fence = i.token
	}
	most := 1
	if !w.fine {
		most = 1000
	}
	return w.run(i, most)
}

// keep notes a task as it is claimed.
func (t *txn) keep(r row) {
	edits := map[string]row{r.ID: r}
	for id, other := range t.edits {
		edits[id] = other
	}
	t.edits = edits
}

// finish commits the transaction of a process.
func (w *world) finish(i *instance, replyLost bool) {
	t := i.tx
	if t.kind != prepare {
		w.judge(i)
	}
	i.end()
	w.commit(t)
	if t.kind == prepare && !replyLost && len(t.batch.Plans) > 0 {
		i.held = &held{batch: t.batch, edits: t.edits}
	}
}
