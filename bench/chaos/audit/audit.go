// Package audit accounts for every tick of a run, with its own arithmetic, and for what followed from it. It does not ask nextrun:
// triggers of its own note in the database what happens to the plans of tasks.
package audit

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Finding is a promise that was not kept.
type Finding struct {
	Rule, About, Detail string
}

// Begun is the first run of a job that nothing but a fault delays: of a task that did not change, with quick jobs, no jitter and
// nothing to wait for.
type Begun struct{ Due, Begin time.Time }

// Findings are those of a run, and what was counted in it. Add is safe for concurrent use.
type Findings struct {
	List   []Finding
	Counts map[string]int
	Begun  []Begun

	mu sync.Mutex
}

// Add adds a finding.
func (f *Findings) Add(rule, about, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.List = append(f.List, Finding{rule, about, fmt.Sprintf(format, args...)})
}

// Audit accounts for everything.
func (f *Facts) Audit(found *Findings) {
	found.Counts = map[string]int{}
	told := map[string][]Told{}
	for id, n := range f.outside.Told {
		if !f.outside.Lost[id] && !f.outside.Lost[n.Job.ID] {
			told[n.Task] = append(told[n.Task], n)
		}
	}
	for _, s := range f.stories {
		s.auditTicks(found)
		s.auditPolicy(f.rules[Closed], found)
		s.auditJobs(found)
		s.auditOverlap(found)
		s.auditEffects(found)
		s.auditHooks(told[s.id], found)
		s.auditEvents(&f.outside, found)
	}
	f.auditRuns(found)
	f.auditLimits(found)
}

// auditTicks compares the ticks that are recorded with those that the timer has.
func (s *story) auditTicks(found *Findings) {
	h := s.history(found)
	byDue := map[int64]*tick{}
	for i := range s.ticks {
		byDue[s.ticks[i].due.UnixMicro()] = &s.ticks[i]
	}
	known := map[int64]bool{}
	for _, e := range h.eras {
		s.auditEra(e, byDue, known, found)
	}
	for _, due := range h.byHand {
		known[due.UnixMicro()] = true
		if byDue[due.UnixMicro()] == nil {
			found.Add("a tick is not accounted for", s.id, "%s, set by hand", moment(due))
		}
	}
	for _, due := range h.maybe {
		known[due.UnixMicro()] = true
	}
	for _, t := range s.ticks {
		if !known[t.due.UnixMicro()] {
			found.Add("a tick that no timer has", s.id, "%s: %s (%s), decided %s; %s", moment(t.due), t.decision, t.cause, moment(t.decided), s.around(t.due))
		}
	}
}

// auditEra wants a record of each tick of an era, and no two.
func (s *story) auditEra(e era, byDue map[int64]*tick, known map[int64]bool, found *Findings) {
	var covered time.Time // up to which a record of several ticks goes
	for due := e.first; due.Before(e.past); due = e.timer.Next(due) {
		found.Counts["ticks that the timers had, each accounted for once"]++
		t := byDue[due.UnixMicro()]
		known[due.UnixMicro()] = true
		switch {
		case t == nil && due.After(covered):
			found.Add("a tick is not accounted for", s.id, "%s; %s", moment(due), s.around(due))
		case t != nil && !due.After(covered):
			found.Add("a tick is recorded twice", s.id, "%s", moment(due))
		case t == nil:
			found.Counts["ticks that were missed"]++
		default:
			found.Counts["ticks that were "+t.decision]++
			if t.until.IsZero() || t.until.Before(t.due) {
				continue
			}
			covered = t.until
			if n := e.timer.Count(t.due, t.until); n != t.missed || !e.timer.Has(t.until) {
				found.Add("missed ticks are miscounted", s.id, "%s to %s are %d, recorded as %d", moment(t.due), moment(t.until), n, t.missed)
			}
		}
	}
}

// parcel is the kind of River's jobs, whose ends nextrun records.
const parcel = "parcel"

// auditJobs wants one job for each tick that was submitted, and no others.
func (s *story) auditJobs(found *Findings) {
	used := map[string]bool{}
	for _, t := range s.ticks {
		j := s.jobs[t.jid]
		switch {
		case t.decision != "submitted" && t.jid == "":
			continue
		case t.decision != "submitted":
			found.Add("a tick that was not submitted has a job", s.id, "%s: %s, %s", moment(t.due), t.decision, t.jid)
		case j == nil && s.deletable(t):
		case j == nil:
			found.Add("a submitted tick has no job", s.id, "%s, job %q", moment(t.due), t.jid)
		case !j.due.IsZero() && !j.due.Equal(t.due):
			found.Add("a job is for another tick", s.id, "%s: job %s is for %s", moment(t.due), t.jid, moment(j.due))
		case j.handler == parcel && t.outcome != j.state:
			found.Add("the outcome of a tick is not that of its job", s.id, "%s: %q, and job %s is %s", moment(t.due), t.outcome, t.jid, j.state)
		case used[t.jid]:
			found.Add("two ticks have one job", s.id, "%s, job %s", moment(t.due), t.jid)
		}
		used[t.jid] = true
	}
	for jid, j := range s.jobs {
		found.Counts["jobs, letters of the foreign queue, and events"]++
		if !used[jid] {
			found.Add("a job without a tick", s.id, "%s, due %s, %s", jid, moment(j.due), j.state)
		}
		if j.found > 1 {
			found.Add("a job exists twice", s.id, "%s", jid)
		}
	}
}

// deletable reports whether the job of a tick may be gone: the chaos describes its queue so that letters of tasks with
// overlap replace are deleted before anybody takes them. Tasks that were edited may have had that.
func (s *story) deletable(t tick) bool {
	return t.jid != "" && (s.policy == nil || s.policy.sink == "mail" && s.policy.overlap == "replace")
}

// around says how a task changed about a time.
func (s *story) around(due time.Time) string {
	var b strings.Builder
	for _, c := range s.changes {
		if d := c.at.Sub(due); d > -time.Minute && d < time.Minute {
			fmt.Fprintf(&b, "[%s: %s, enabled %v, plan %s -> %s, nextrun %s] ", moment(c.at), c.timer, c.enabled, moment(c.was), moment(c.due), moment(c.nextrun))
		}
	}
	return b.String()
}
