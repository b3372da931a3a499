package audit

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/ledger"
)

// final are the states in which nothing more happens to a job.
var final = []string{"success", "failed", "cancelled", "done", "event"}

// auditRuns compares what ran with the jobs.
func (f *Facts) auditRuns(found *Findings) {
	done, ran := map[string]bool{}, map[string]bool{}
	byTask := map[string][]ledger.Run{}
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
func (f *Facts) auditRunsOf(s *story, runs []ledger.Run, found *Findings) {
	slices.SortFunc(runs, func(a, b ledger.Run) int { return a.Begin.Compare(b.Begin) })
	var before *ledger.Run // the run that ends last
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
	found.Counts.Again = f.ledger.Again()
	for id, s := range f.stories {
		n := 0
		for _, j := range s.jobs {
			if j.state == "event" {
				n++
			}
		}
		found.Counts.Events += n
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
