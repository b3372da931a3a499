package audit

import (
	"cmp"
	"slices"
	"time"
)

// slack is how far times of different statements may be apart.
const slack = 2 * time.Second

// unrecorded is how long the end of a job may stay unknown to the database: it bears the time at which the handler returned, and is
// written when the database takes it.
const unrecorded = time.Minute

// auditPolicy looks whether each decision is one that the task's columns allow. They did not change.
func (s *story) auditPolicy(closed []step, found *Findings) {
	p := s.policy
	if p == nil || len(s.changes) == 0 {
		return
	}
	t := ParseTimer(s.changes[0].timer)
	for _, k := range s.ticks {
		if k.cause == "calendar" {
			found.Counts["records of ticks that a calendar left out"]++
		}
		if why := cmp.Or(p.forbidsCalendar(k, closed), p.forbids(k, t, s)); why != "" {
			found.Add("a decision against the policy", s.id, "%s %s (%s): %s; overlap %s, catchup %s, deadline %s, decided %s",
				moment(k.due), k.decision, k.cause, why, p.overlap, p.catchup, p.deadline, moment(k.decided))
		}
	}
}

// forbids says why a tick cannot have been decided so, or nothing.
func (p *policy) forbids(k tick, t Timer, s *story) string {
	age := k.decided.Sub(k.due)
	switch k.decision {
	case "submitted":
		if p.deadline > 0 && age > p.deadline+stall { // after the jitter, and decided up to two seconds before
			return "the deadline had passed"
		}
	case "late":
		if p.deadline == 0 || age < p.deadline-slack {
			return "the deadline had not passed"
		}
	case "missed":
		return p.forbidsMissed(k, t)
	case "skipped":
		return p.forbidsSkipped(k, s)
	default:
		return "there is no such decision"
	}
	return ""
}

func (p *policy) forbidsMissed(k tick, t Timer) string {
	newest := k.due
	if !k.until.IsZero() {
		newest = k.until
	}
	switch {
	case p.catchup == "all":
		return "all ticks are to be submitted"
	case p.catchup == "none" && k.decided.Sub(newest) > p.grace-slack:
	case t.Next(newest).After(k.decided.Add(slack)):
		return "it was the newest"
	}
	return ""
}

// forbidsSkipped wants a job that was in the way.
func (p *policy) forbidsSkipped(k tick, s *story) string {
	switch {
	case k.cause == "calendar":
		return ""
	case p.sink == "event" || p.overlap == "allow":
		return "nothing can be in its way"
	case p.overlap != "skip":
		if k.cause == "waited" || k.cause == "superseded" {
			return "" // a newer tick, while it waited
		}
		return "it was to wait"
	case p.sink != "job":
		return "" // the queue of somebody else has no times
	}
	for _, j := range s.jobs {
		if j.due.Before(k.due) && !j.submitted.After(k.decided.Add(slack)) && (j.finished.IsZero() || !j.finished.Before(k.decided.Add(-unrecorded))) {
			return ""
		}
	}
	return "no job was in the way"
}

// stall is how long the server lets a transaction wait for its next statement, and slack. One reads
// the clock when it begins, and pending jobs after that: a network that holds it up in between lets
// a job end meanwhile. The index of pending jobs would refuse a second one.
const stall = 5*time.Second + slack

// auditOverlap wants that no two jobs of a task exist at a time that must not.
func (s *story) auditOverlap(found *Findings) {
	var list []*job
	for _, j := range s.jobs {
		if j.single {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *job) int { return a.submitted.Compare(b.submitted) })
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if a.finished.IsZero() || a.finished.After(b.submitted.Add(stall)) {
			found.Add("jobs of a task overlap", s.id, "%s ended at %s, and %s was submitted at %s", a.jid, moment(a.finished), b.jid, moment(b.submitted))
		}
	}
}
