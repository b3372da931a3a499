package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// The time of the model goes in units of half a minute. Tasks elapse every minute.
const unit = 30 * time.Second

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(units int) time.Time { return start.Add(time.Duration(units) * unit) }

// What configurations have elsewhere, in the time of the model.
const (
	lease = unit + unit/2 // of a mark
	lead  = unit          // of plans that are made before their time
	ttl   = 2             // of the lock, in units
)

// row is a row of periodic_task, and what only the model knows about it.
type row struct {
	periodic.Task
	version int       // another one with each write, like xmin
	edits   int       // names its last edit
	since   time.Time // from this tick on the plan owes a decision; zero: there is no plan since the last edit
}

// tick is a row of periodic_tick. One without Decided is a skip that is written ahead. copies differ only where the primary key is taken out.
type tick struct {
	periodic.Tick
	copies int
}

// job is a row of the table job or, with other, of a queue that is not nextrun's own.
type job struct {
	id, tracker string
	due         time.Time // zero: not of a tick
	single      bool
	other       bool
	state       jobqueue.State
	asked       bool      // to end
	ended       time.Time // zero: it has not
}

func (j job) pending() bool { return !j.state.Final() }

// opened is a row of periodic_open.
type opened struct {
	task, jid string
	sink      periodic.Sink
	due       time.Time
}

// tables are the rows that are committed or, in a transaction, those that it has written.
type tables struct {
	tasks []row
	ticks []tick
	jobs  []job
	open  []opened
}

// lockRow is the row of scheduler_lock.
type lockRow struct {
	holder  string
	token   int
	expires int // in units
}

// txn is a transaction that has begun.
type txn struct {
	kind   string
	now    time.Time
	fence  int  // token of the term that it belongs to; 0: none
	shares bool // it keeps the lock's row from being changed
	calls  []answer
	own    tables
	edits  map[string]row // the tasks as they were read
	jids   []string       // names that the model gives to jobs, in the order of their appearance
	done   bool           // nothing is left but the commit
}

// answer is what a statement has returned.
type answer struct {
	call  string
	value any
}

// held are plans that are not written yet, and the tasks as they were read.
type held struct {
	batch batch.Batch
	edits map[string]row
}

// instance is a process of a scheduler.
type instance struct {
	role
	up    bool
	begun bool
	boot  int
	token int // of the term that it believes to have; 0: none
	held  *held
	tx    *txn
}

// budget is how often each kind of event may still happen.
type budget struct{ ahead, back, crash, edit, job, end, mark, lose int }

// world is a state. It is not changed once it has been reached.
type world struct {
	*scene
	now, high int // the database's clock, and the latest time that it has shown
	tables
	lock      lockRow
	edited    int // edits so far
	started   int // how often a server has started
	standby   *standby
	instances []instance
	worker    *txn // in which a worker records the end of a job
	left      budget
	broken    string
}

// standby is a server that has got no more since it fell behind.
type standby struct {
	tables
	lock lockRow
}

func (t tables) clone() tables {
	return tables{slices.Clone(t.tasks), slices.Clone(t.ticks), slices.Clone(t.jobs), slices.Clone(t.open)}
}

func (w *world) clone() *world {
	c := *w
	c.tables = w.tables.clone()
	c.instances = slices.Clone(w.instances)
	for i := range c.instances {
		c.instances[i].tx = c.instances[i].tx.clone()
	}
	c.worker = w.worker.clone()
	return &c
}

func (t *txn) clone() *txn {
	if t == nil {
		return nil
	}
	c := *t
	c.calls, c.jids = slices.Clip(t.calls), slices.Clip(t.jids)
	c.own = t.own.clone()
	return &c
}

// transactions returns those that have begun, but for one.
func (w *world) transactions(but *txn) (all []*txn) {
	for i := range w.instances {
		if t := w.instances[i].tx; t != nil && t != but {
			all = append(all, t)
		}
	}
	if w.worker != nil && w.worker != but {
		all = append(all, w.worker)
	}
	return all
}

// merge returns rows with those that a transaction has written.
func merge[T any](committed, own []T, same func(a, b T) bool) []T {
	all := slices.Clone(committed)
	for _, o := range own {
		if i := slices.IndexFunc(all, func(c T) bool { return same(c, o) }); i >= 0 {
			all[i] = o
		} else {
			all = append(all, o)
		}
	}
	return all
}

func sameTask(a, b row) bool { return a.ID == b.ID }
func sameTick(a, b tick) bool {
	return a.TaskID == b.TaskID && a.Due.Equal(b.Due) && a.copies == b.copies
}
func sameJob(a, b job) bool     { return a.id == b.id }
func sameOpen(a, b opened) bool { return a.jid == b.jid }

// seen is what a transaction sees: what is committed, and its own rows. Without a
// transaction it is what is committed.
func (w *world) seen(t *txn) tables {
	if t == nil {
		return w.tables
	}
	v := tables{
		merge(w.tasks, t.own.tasks, sameTask), merge(w.ticks, t.own.ticks, sameTick),
		merge(w.jobs, t.own.jobs, sameJob), merge(w.open, t.own.open, sameOpen),
	}
	return v
}

// commit makes the rows of a transaction visible.
func (w *world) commit(t *txn) {
	v := w.seen(t)
	slices.SortFunc(v.tasks, func(a, b row) int { return cmp.Compare(a.ID, b.ID) })
	w.tables = v
}
