package audit

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
	"github.com/nextrun/nextrun/bench/chaos/internal/world"
)

// final are the states in which nothing more happens to a job.
var final = []string{"success", "failed", "cancelled", "done", "event"}

// auditRuns compares what ran with the jobs.
func (f *Facts) auditRuns(found *Findings) {
	done, ran := map[string]bool{}, map[string]bool{}
	byTask := map[string][]world.Run{}
	for _, r := range f.runs {
		found.Counts.Runs++
		if ran[r.Job] {
			found.Counts.RunsAgain++
		}
		ran[r.Job], done[r.Job] = true, done[r.Job] || r.Succeeded
		byTask[r.Task] = append(byTask[r.Task], r)
	}
	for _, s := range f.stories {
		for jid, j := range s.jobs {
			switch {
			case !slices.Contains(final, j.state):
				found.Add("a job did not end", s.id, "%s is %s", jid, j.state)
			case (j.state == "success" || j.state == "done") && !done[jid]:
				found.Add("a job succeeded that did not run", s.id, "%s", jid)
			}
		}
		f.auditRunsOf(s, byTask[s.id], found)
	}
}

// auditRunsOf looks at the runs of a task.
func (f *Facts) auditRunsOf(s *story, runs []world.Run, found *Findings) {
	slices.SortFunc(runs, func(a, b world.Run) int { return a.Begin.Compare(b.Begin) })
	var before *world.Run // the run that ends last
	for i := range runs {
		r := &runs[i]
		j := s.jobs[r.Job]
		due, _ := time.Parse(time.RFC3339Nano, r.Due)
		switch {
		case j == nil:
			found.Add("what ran is no job", s.id, "%s", r.Job)
		case r.Due != "" && !due.Equal(j.due):
			found.Add("what ran is another tick", s.id, "%s: %s instead of %s", r.Job, r.Due, moment(j.due))
		}
		if r.Begin.IsZero() || r.End.IsZero() { // of a command
			continue
		}
		if before != nil && before.Job != r.Job && r.Begin.Before(before.End) && s.policy != nil && s.policy.overlap != "allow" {
			if old := s.jobs[before.Job]; old != nil && old.interrupts > 0 {
				found.Counts.Beside++
			} else {
				found.Add("runs of a task overlap", s.id, "%s until %s, %s from %s", before.Job, moment(before.End), r.Job, moment(r.Begin))
			}
		}
		if before == nil || r.End.After(before.End) {
			before = r
		}
	}
}

// auditEvents wants all events of each task, in order.
func (f *Facts) auditEvents(found *Findings) {
	for id, s := range f.stories {
		n := 0
		for _, j := range s.jobs {
			if j.state == "event" {
				n++
			}
		}
		versions := f.ledger.Delivered(id)
		if len(versions) != n {
			found.Add("events did not arrive", id, "%d of %d", len(versions), n)
		}
		for i, v := range versions {
			if v != i+1 {
				found.Add("events are out of order", id, "version %d came as number %d", v, i+1)
				break
			}
		}
	}
}

// Recovery is what a fault cost.
type Recovery struct {
	fault.Fault
	OnTime time.Duration // from its end to the next job of a tick that falls due after it and begins within a second
	Latest time.Duration // how late the latest job of a tick began that fell due meanwhile
}

// onTime is how late a job may begin.
const onTime = time.Second

// begun is the first run of a job.
type begun struct{ due, begin time.Time }

// Recoveries measures what each fault cost that could be made, by the times at which jobs began that nothing else delays. Several lanes
// of faults run beside each other, so a fault may be charged with what another one cost.
func (f *Facts) Recoveries(faults []fault.Fault) (list []Recovery) {
	runs := f.firstRuns()
	for _, ft := range faults {
		if ft.Problem != "" {
			continue
		}
		r := Recovery{Fault: ft}
		for _, b := range runs {
			late := b.begin.Sub(b.due)
			switch {
			case b.due.Before(ft.Begin):
			case b.due.Before(ft.End):
				r.Latest = max(r.Latest, late)
			case late <= onTime && r.OnTime == 0:
				r.OnTime = b.begin.Sub(ft.End)
			}
		}
		list = append(list, r)
	}
	return list
}

// firstRuns are, by the times at which they were due, the first runs of the jobs of tasks that did not change, with quick jobs, no jitter and nothing to wait for.
func (f *Facts) firstRuns() (list []begun) {
	seen := map[string]bool{}
	for _, r := range f.runs {
		s := f.stories[r.Task]
		if s == nil || s.policy == nil || r.Begin.IsZero() || seen[r.Job] {
			continue
		}
		seen[r.Job] = true
		p := s.policy
		due, err := time.Parse(time.RFC3339Nano, r.Due)
		if err == nil && p.handler == "call" && !p.jitter && (p.overlap == "allow" || p.overlap == "skip") {
			list = append(list, begun{due, r.Begin})
		}
	}
	slices.SortFunc(list, func(a, b begun) int { return a.due.Compare(b.due) })
	return list
}
