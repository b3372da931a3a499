package model

import (
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// fence is what keeps processes from harm. Tests take one out.
type fence string

const (
	none         fence = ""
	version      fence = "a plan is written only if the row is as it was read"
	serverStart  fence = "rev follows the clock, so that no number comes again after a server has lost commits"
	othersMark   fence = "a task that somebody has marked is left alone"
	leaseEnd     fence = "a mark ends with its lease, by the database's clock"
	tickKey      fence = "(task_id, due) is unique"
	pendingIndex fence = "the index on pending jobs"
	openRow      fence = "periodic_open names the job in another queue"
	rowLock      fence = "rows that are written stay locked until the commit"
	guardCheck   fence = "the lock's holder and token are checked"
	guardShare   fence = "the lock's row stays locked until the commit"
	early        fence = "nothing before its time, and nothing that does not last"
)

// role is how a process works.
type role struct {
	name   string // two processes may have the same
	led    bool   // mode leader or exclusive: it schedules while it holds the lock
	others bool   // it has queues that are not nextrun's own, and submits statement by statement
}

// scene is what does not change from state to state.
type scene struct {
	name    string
	roles   []role
	initial []periodic.Task
	fine    bool // statements of transactions alternate; else only transactions do, as on SQLite
	sqlite  bool // the versions of SQLite
	ahead   bool // plans are made before their time
	edits   []string
	left    budget
	out     fence
	rules   []string // that are checked; nil: all
}

func (s *scene) off(f fence) bool { return s.out == f }

// without is the scene with a fence taken out.
func (s scene) without(f fence) scene {
	s.out = f
	return s
}

// oneTask is a task that elapses every minute, and is planned for the first one.
func oneTask(change ...func(*periodic.Task)) []periodic.Task {
	t := periodic.Task{
		ID: "a", Enabled: true, Task: "echo", Group: "g", Submitter: "s", Timer: everyMinute, Created: start,
		Due: at(2), NextRun: at(2), Overlap: periodic.OverlapSkip, Catchup: periodic.CatchupOne, Sink: periodic.SinkJob,
	}
	for _, c := range change {
		c(&t)
	}
	return []periodic.Task{t}
}

// The timers of the model.
const (
	everyMinute   = "*-*-* *:*:00"
	everyHalfPast = "*-*-* *:*:30"
)

// first is the state in which a scene begins: half a minute before the first tick.
func (s scene) first() *world {
	w := &world{scene: &s, now: 1, high: 1, left: s.left}
	for _, t := range s.initial {
		r := row{Task: t, since: t.Due}
		w.tables.tasks = append(w.tables.tasks, r)
	}
	for n, r := range s.roles {
		w.instances = append(w.instances, instance{role: r, up: true, begun: true, boot: 10*n + 1})
	}
	return w
}

// clock writes a time as people read it in a trace.
func clock(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case t.Equal(periodic.Unplanned):
		return "1970"
	case t.Equal(periodic.Never):
		return "never"
	}
	return t.UTC().Format("15:04:05")
}

// id is the worker's id: its name and its boot id.
func (i *instance) id() string { return fmt.Sprintf("%s@%d", i.name, i.boot) }

// end ends the transaction of the instance. The plans that it was to write are gone.
func (i *instance) end() {
	if i.tx != nil && i.tx.kind == submit {
		i.held = nil
	}
	i.tx = nil
}
