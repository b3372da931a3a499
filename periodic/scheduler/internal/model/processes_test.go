package model

import (
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/testkit/explore"
	"github.com/nextrun/nextrun/periodic/batch"
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
	i := &next.instances[n]
	t, before := i.tx, len(i.tx.calls)
	if !next.run(i, 1) {
		return // it waits for a lock
	}
	what := done(t.calls[before:])
	if i.tx == nil {
		what += ", and its transaction ends"
	}
	a.add(w.instances[n].id()+" "+what, func(w *world) bool { *w = *next; return true })
}

// done says what statements have done.
func done(calls []answer) string {
	words := map[string]string{
		"guard": "checks the lock", "tasks": "reads tasks", "pending": "asks for pending jobs", "ticks": "reads ticks", "ended": "asks when jobs ended",
		"advance": "moves the tasks on", "record": "records ticks", "submit": "submits jobs", "cancel": "cancels jobs",
		"plain": "moves the tasks on, records ticks and submits jobs in one statement",
	}
	var list []string
	for _, c := range calls {
		list = append(list, words[c.call])
	}
	return strings.Join(list, ", ")
}

type doing func(what string, f func(w *world, i *instance) bool)

// transaction adds what can become of an open transaction.
func (a *actions) transaction(do doing, i *instance, n int) {
	if !i.tx.done {
		a.statement(n)
	} else {
		do("commits", func(w *world, i *instance) bool { w.finish(i); return true })
	}
	if a.w.left.end > 0 {
		do("loses its transaction", func(w *world, i *instance) bool {
			w.left.end--
			i.end()
			return true
		})
	}
}

// The transactions of package batch.
const (
	readDue   = "reads what is due"
	readNew   = "reads what has no plan"
	readAhead = "reads what will be due"
	submit    = "submits its plans"
)

var reads = map[string]batch.Wanted{readDue: {Limit: 100}, readNew: {Limit: 100, Unplanned: true}, readAhead: {Limit: 100, Ahead: lead}}

// begin adds the transactions of package batch that can begin.
func (a *actions) begin(do doing, i *instance) {
	w := a.w
	start := func(kind string) { do(kind, func(w *world, i *instance) bool { return w.start(i, kind) }) }
	if i.held != nil {
		start(submit)
		return
	}
	for _, kind := range sorted(reads) {
		wanted := func(r row) bool { return w.wants(at(w.now), r, reads[kind]) }
		if (kind != readAhead || w.ahead) && slices.ContainsFunc(w.tables.tasks, wanted) {
			start(kind)
		}
	}
}

// start begins a transaction of the real code: with its first statement, or as a whole where
// transactions exclude each other.
func (w *world) start(i *instance, kind string) bool {
	if i.led && i.token == 0 {
		return false
	}
	i.tx = &txn{kind: kind, now: at(w.now)}
	if i.led && kind == submit {
		i.tx.fence = i.token
	}
	most := 1
	if !w.fine {
		most = 1000
	}
	return w.run(i, most)
}

// keep notes a task as it is read.
func (t *txn) keep(r row) {
	edits := map[string]row{r.ID: r}
	for id, other := range t.edits {
		edits[id] = other
	}
	t.edits = edits
}

// finish commits the transaction in which a process writes its plans.
func (w *world) finish(i *instance) {
	t := i.tx
	w.judge(i)
	i.end()
	w.commit(t)
}
