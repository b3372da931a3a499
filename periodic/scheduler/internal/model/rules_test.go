package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/testkit/explore"
	"github.com/nextrun/nextrun/periodic"
)

// The rules. Each names the guarantee of docs/internals/architecture.md that it stands for.
const (
	ruleOneJob    = "G1: a tick has two jobs"
	ruleJobOfTick = "G1: a submitted tick and its job do not belong together"
	ruleAccounted = "G2: a tick was passed over without a record"
	ruleOverlap   = "G3: a task has two pending jobs"
	ruleMark      = "G4: work was committed for a task that somebody else had marked"
	ruleEdit      = "G4: work that was read before an edit was committed after it"
	ruleTerm      = "G4: a process without the lock has committed"
	ruleForward   = "G9: nextrun moved back without an edit"
	ruleEarly     = "G10: a tick was submitted before its time by the database's clock"
	ruleLate      = "G10: a tick was submitted after its deadline"
)

// breaks notes a broken rule, if the scene looks at it.
func (w *world) breaks(rule, format string, args ...any) {
	if w.broken == "" && (w.scene.rules == nil || slices.Contains(w.scene.rules, rule)) {
		w.broken = rule + ": " + fmt.Sprintf(format, args...)
	}
}

// Broken implements explore.State.
func (w *world) Broken() string {
	if w.broken != "" || !w.out.hinders() {
		return w.broken
	}
	if key := w.Key(); w.out != none || int(key[0])%*flagRecover == 0 {
		w.broken = w.recovers()
	}
	return w.broken
}

// judge checks what a scheduler is about to commit.
func (w *world) judge(i *instance) {
	t := i.tx
	if i.led && (w.lock.holder != i.id() || w.lock.token != t.fence) {
		w.breaks(ruleTerm, "%s under token %d, while %s has token %d", i.id(), t.fence, w.lock.holder, w.lock.token)
	}
	read := i.held.edits
	for _, r := range t.own.tasks {
		n := slices.IndexFunc(w.tables.tasks, func(c row) bool { return c.ID == r.ID })
		if n < 0 {
			w.breaks(ruleEdit, "task %s was deleted", r.ID)
			continue
		}
		was, then := w.tables.tasks[n], read[r.ID]
		edited := was.edits != then.edits
		if edited && !(w.sqlite && w.versionOf(w.withSkips(was)) == w.versionOf(then) && was.Enabled) { // there an edit may have been taken back
			w.breaks(ruleEdit, "task %s", r.ID)
		}
		if was.Worker != "" {
			w.breaks(ruleMark, "task %s by %s", r.ID, was.Worker)
		}
		if !edited && r.NextRun.Before(was.NextRun) {
			w.breaks(ruleForward, "task %s from %s to %s", r.ID, clock(was.NextRun), clock(r.NextRun))
		}
	}
	w.judgeTicks(i, read)
}

// judgeTicks checks the time of the ticks that a scheduler is about to submit.
func (w *world) judgeTicks(i *instance, read map[string]row) {
	now := i.tx.now
	for _, k := range i.tx.own.ticks {
		if k.Decision != periodic.Submitted {
			continue
		}
		if k.Due.After(now) {
			w.breaks(ruleEarly, "task %s, tick %s at %s", k.TaskID, clock(k.Due), clock(now))
		}
		if d := read[k.TaskID].Deadline; d != nil && now.Sub(k.Due) > *d {
			w.breaks(ruleLate, "task %s, tick %s at %s", k.TaskID, clock(k.Due), clock(now))
		}
	}
}

// rules checks the committed rows.
func (w *world) rules() string {
	w.oneJob()
	for _, r := range w.tables.tasks {
		w.accounted(r)
	}
	return w.broken
}

// oneJob checks G1 and G3.
func (w *world) oneJob() {
	pending := map[string]int{}
	for n, j := range w.tables.jobs {
		if j.single && j.pending() {
			if pending[j.tracker]++; pending[j.tracker] > 1 {
				w.breaks(ruleOverlap, "task %s", j.tracker)
			}
		}
		if j.due.IsZero() {
			continue
		}
		if slices.ContainsFunc(w.tables.jobs[:n], func(o job) bool { return o.tracker == j.tracker && o.due.Equal(j.due) }) {
			w.breaks(ruleOneJob, "task %s, tick %s", j.tracker, clock(j.due))
		}
		if !slices.ContainsFunc(w.tables.ticks, func(k tick) bool { return k.JID == j.id && k.Decision == periodic.Submitted }) {
			w.breaks(ruleJobOfTick, "job %s", j.id)
		}
	}
	for _, k := range w.tables.ticks {
		has := slices.ContainsFunc(w.tables.jobs, func(j job) bool { return j.id == k.JID && j.due.Equal(k.Due) })
		if has != (k.Decision == periodic.Submitted) {
			w.breaks(ruleJobOfTick, "task %s, tick %s, %s", k.TaskID, clock(k.Due), k.Decision)
		}
	}
}

// accounted checks G2: each tick of the timer since the plan was made, up to the one that is
// planned, has a record.
func (w *world) accounted(r row) {
	if !r.Enabled || r.since.IsZero() || r.Due.IsZero() {
		return
	}
	timer := timers[r.Timer]
	for due := r.since; due.Before(r.Due); due = timer.Next(due) {
		if !r.Ends.IsZero() && !due.Before(r.Ends) {
			return
		}
		if !w.isRecorded(r.ID, due) {
			w.breaks(ruleAccounted, "task %s, tick %s; the next one is %s", r.ID, clock(due), clock(r.Due))
		}
	}
}

func (w *world) isRecorded(id string, due time.Time) bool {
	return slices.ContainsFunc(w.tables.ticks, func(k tick) bool {
		return k.TaskID == id && !k.Decided.IsZero() && !due.Before(k.Due) && !due.After(last(k))
	})
}

var timers = map[string]calendar.Schedule{everyMinute: parsed(everyMinute), everyHalfPast: parsed(everyHalfPast)}

func parsed(timer string) calendar.Schedule {
	s, err := calendar.ParseAt(timer, start)
	if err != nil {
		panic(err)
	}
	return s
}

// hinders reports whether to look, in each state, if a healthy process goes on from there.
func (f fence) hinders() bool {
	return slices.Contains([]fence{none, leaseEnd}, f)
}

// fences are what keeps a process from harm, and what goes wrong without it.
var fences = []struct {
	out    fence
	scene  string
	broken string
}{
	{version, "ahead", ruleEdit},
	{version, "ahead, other edits", ruleEdit},
	{version, "ahead, step by step", ruleEdit},
	{version, "overlapping", ruleForward},
	{version, "marks of others", ruleMark},
	{version, "SQLite, ahead", ruleEdit},
	{version, "a skip written ahead", ruleEdit},
	{serverStart, "a server that loses commits", ruleEdit},
	{othersMark, "marks of others", ruleMark},
	{othersMark, "marks of others, step by step", ruleMark},
	{leaseEnd, "marks of others", ruleLeft},
	{tickKey, "a clock set back", ruleOneJob},
	{pendingIndex, "a job of the user's", ruleOverlap},
	{openRow, "another queue", ruleOverlap},
	{rowLock, "what is due", ruleEdit},
	{guardCheck, "leader", ruleTerm},
	{guardShare, "leader", ruleTerm},
	{early, "ahead", ruleEarly},
	{early, "ahead", ruleLate},
}

// Without one of the fences the search finds what it prevents.
func TestFences(t *testing.T) {
	for _, f := range fences {
		t.Run(string(f.out)+", "+f.scene+", "+f.broken, func(t *testing.T) {
			i := slices.IndexFunc(scenes, func(s scene) bool { return s.name == f.scene })
			s := scenes[i].without(f.out)
			s.rules = []string{f.broken}
			r := explore.All(s.first(), explore.Bounds{States: 60_000})
			t.Logf("%s", &r)
			if !strings.HasPrefix(r.Broken, f.broken) {
				t.Fail()
			}
		})
	}
}
