package model

import (
	"flag"
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
