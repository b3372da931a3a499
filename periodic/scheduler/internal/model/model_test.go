package model

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/explore"
	"github.com/nextrun/nextrun/periodic"
)

var (
	flagStates  = flag.Int("model.states", 1_000, "states of each scene to visit")
	flagRandom  = flag.Int("model.random", 0, "actions of each scene to do at random, on ways of 60")
	flagRecover = flag.Int("model.recover", 8, "of how many states one is left to a healthy process")
	flagSeed    = flag.Uint64("model.seed", 1, "seed of the random ways")
	flagWalks   = flag.Int("model.walks", 1, "random ways of each scene on the real databases")
)

// roles are two processes that work alike.
func roles(r role) []role {
	a, b := r, r
	a.name, b.name = "A", "B"
	return []role{a, b}
}

var planEdits = []string{"changes its timer", "sets nextrun back to the first tick", "deletes it, or inserts it again"}

var otherEdits = []string{"disables or enables it", "pauses or resumes it", "adds a job of it by SQL", "backfills its first tick"}

// How the tasks of scenes differ.
var (
	queues    = func(t *periodic.Task) { t.Overlap = periodic.OverlapQueue }
	replaces  = func(t *periodic.Task) { t.Overlap = periodic.OverlapReplace }
	allows    = func(t *periodic.Task) { t.Overlap = periodic.OverlapAllow }
	catchesUp = func(t *periodic.Task) { t.Catchup = periodic.CatchupAll }
	elsewhere = func(t *periodic.Task) { t.Sink = otherSink }
	inTime    = func(t *periodic.Task) { d := 40 * time.Second; t.Deadline = &d }
)

// scenes are what is explored.
var scenes = []scene{
	{name: "what is due", roles: roles(role{}), initial: oneTask(), fine: true,
		left: budget{ahead: 4, crash: 1, end: 1, edit: 1, job: 1}, edits: planEdits},
	{name: "what is due, other edits", roles: roles(role{}), initial: oneTask(catchesUp), fine: true,
		left: budget{ahead: 4, crash: 1, edit: 2, job: 1}, edits: otherEdits},
	{name: "ahead", roles: roles(role{}), initial: oneTask(inTime), fine: true, ahead: true,
		left: budget{ahead: 5, back: 1, crash: 1, edit: 1, job: 1}, edits: planEdits},
	{name: "ahead, other edits", roles: roles(role{}), initial: oneTask(catchesUp), fine: true, ahead: true,
		left: budget{ahead: 5, end: 1, edit: 2, job: 1}, edits: otherEdits},
	{name: "ahead, step by step", roles: roles(role{others: true}), initial: oneTask(inTime), fine: true, ahead: true,
		left: budget{ahead: 5, back: 1, edit: 1, job: 1}, edits: append(planEdits, otherEdits...)},
	{name: "marks of others", roles: roles(role{}), initial: oneTask(), fine: true, ahead: true,
		left: budget{ahead: 5, crash: 1, edit: 1, mark: 2}, edits: planEdits},
	{name: "marks of others, step by step", roles: roles(role{others: true}), initial: oneTask(), fine: true, ahead: true,
		left: budget{ahead: 5, back: 1, edit: 1, mark: 2}, edits: otherEdits},
	{name: "a server that loses commits", roles: roles(role{}), initial: oneTask(), fine: true, ahead: true,
		left: budget{ahead: 4, edit: 2, job: 1, lose: 1}, edits: planEdits},
	{name: "leader", roles: roles(role{led: true}), initial: oneTask(), fine: true,
		left: budget{ahead: 6, crash: 1, edit: 1}, edits: planEdits},
	{name: "leader, a clock set back", roles: roles(role{led: true}), initial: oneTask(allows), fine: true,
		left: budget{ahead: 6, back: 1, crash: 1, edit: 1}, edits: planEdits},
	{name: "leader, ahead", roles: roles(role{led: true}), initial: oneTask(), fine: true, ahead: true,
		left: budget{ahead: 6, crash: 1, edit: 1}, edits: planEdits},
	{name: "held ticks", roles: roles(role{}), initial: oneTask(queues), fine: true,
		left: budget{ahead: 6, crash: 1, edit: 1, job: 2}, edits: otherEdits},
	{name: "replaced jobs", roles: roles(role{others: true}), initial: oneTask(replaces), fine: true, ahead: true,
		left: budget{ahead: 6, edit: 1, job: 2}, edits: otherEdits},
	{name: "another queue", roles: roles(role{others: true}), initial: oneTask(queues, elsewhere), fine: true, ahead: true,
		left: budget{ahead: 6, edit: 2, job: 2}, edits: []string{"moves it to another queue", "backfills its first tick"}},
	{name: "overlapping", roles: roles(role{}), initial: oneTask(allows, catchesUp), fine: true, ahead: true,
		left: budget{ahead: 5, back: 1, crash: 1, edit: 1, job: 1}, edits: append(planEdits, otherEdits...)},
	{name: "SQLite", roles: roles(role{}), initial: oneTask(queues), sqlite: true, ahead: true,
		left: budget{ahead: 6, back: 1, crash: 1, edit: 2, job: 2}, edits: append(planEdits, otherEdits...)},
	{name: "SQLite, ahead", roles: roles(role{}), initial: oneTask(), sqlite: true, ahead: true,
		left: budget{ahead: 6, back: 1, crash: 1, edit: 2, job: 2, mark: 1}, edits: append(planEdits, otherEdits...)},
	{name: "a clock set back", roles: roles(role{}), initial: oneTask(allows), fine: true,
		left: budget{ahead: 4, back: 1, edit: 2}, edits: []string{"disables or enables it", "deletes it, or inserts it again"}},
	{name: "a job of the user's", roles: roles(role{}), initial: oneTask(), fine: true,
		left: budget{ahead: 5, edit: 1, job: 1}, edits: []string{"adds a job of it by SQL"}},
	{name: "a backfill", roles: roles(role{}), initial: oneTask(), fine: true,
		left: budget{ahead: 6, edit: 1, job: 1}, edits: []string{"backfills its first tick"}},
	{name: "a skip written ahead", roles: roles(role{}), initial: oneTask(), fine: true, ahead: true,
		left: budget{ahead: 5, edit: 2, job: 1}, edits: []string{"skips its tick ahead, or not", "changes its timer"}},
	{name: "three processes", roles: append(roles(role{}), role{name: "A"}), initial: oneTask(), fine: true, ahead: true,
		left: budget{ahead: 5, crash: 1, edit: 1, job: 1}, edits: planEdits},
}

func TestGuarantees(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			r := explore.All(s.first(), explore.Bounds{States: *flagStates})
			t.Logf("%s", &r)
			if r.Broken != "" {
				t.FailNow()
			}
			r = explore.Random(s.first(), *flagSeed, explore.Bounds{Depth: 60, States: *flagRandom})
			t.Logf("at random: %s", &r)
			if r.Broken != "" {
				t.Fail()
			}
		})
	}
}

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
