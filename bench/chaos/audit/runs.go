package audit

import (
	"slices"
	"time"
)

// final are the states in which nothing more happens to a job.
var final = []string{"success", "failed", "cancelled", "done", "event"}

// auditRuns compares what ran with the jobs.
func (f *Facts) auditRuns(found *Findings) {
	done, ran, doubtful := map[string]bool{}, map[string]bool{}, map[string]bool{}
	byTask := map[string][]Run{}
	for _, r := range f.outside.Runs {
		found.Counts["runs that handlers saw"]++
		if ran[r.Job] {
			found.Counts["runs again, after a failure or the loss of the worker"]++
		}
		ran[r.Job], done[r.Job] = true, done[r.Job] || r.Succeeded
		doubtful[r.Job] = doubtful[r.Job] || f.outside.adrift(r)
		if f.outside.Lost[r.Job] {
			found.Counts["runs of jobs that a failover has lost"]++
			continue
		}
		byTask[r.Task] = append(byTask[r.Task], r)
	}
	for _, s := range f.stories {
		for jid, j := range s.jobs {
			switch {
			case !slices.Contains(final, j.state):
				found.Add("a job did not end", s.id, "%s is %s", jid, j.state)
			case j.handler == parcel && doubtful[jid]: // River may have completed the job of this number that a failover has lost
			case (j.state == "success" || j.state == "done") && !done[jid] && j.handler != "book":
				found.Add("a job succeeded that did not run", s.id, "%s", jid)
			}
		}
		s.auditRuns(byTask[s.id], f.outside.adrift, found)
	}
}

// auditRuns looks at the runs of a task.
func (s *story) auditRuns(runs []Run, adrift func(Run) bool, found *Findings) {
	slices.SortFunc(runs, func(a, b Run) int { return a.Begin.Compare(b.Begin) })
	var before *Run // the run that ends last
	seen := map[string]bool{}
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
		if p := s.policy; p != nil && !seen[r.Job] && p.handler == "call" && p.sink == "job" && !p.jitter && (p.overlap == "allow" || p.overlap == "skip") {
			found.Begun = append(found.Begun, Begun{due, r.Begin})
		}
		seen[r.Job] = true
		if before != nil && before.Job != r.Job && r.Begin.Before(before.End) && s.policy != nil && s.policy.overlap != "allow" {
			if old := s.jobs[before.Job]; old != nil && old.interrupts > 0 || adrift(*before) {
				found.Counts["runs beside the next job of the task, whose worker was thought dead or whose begin was lost"]++
			} else {
				found.Add("runs of a task overlap", s.id, "%s until %s, %s from %s", before.Job, moment(before.End), r.Job, moment(r.Begin))
			}
		}
		if before == nil || r.End.After(before.End) {
			before = r
		}
	}
}

// auditEffects wants one effect of each job that succeeded whose handler is SQL, and none of others: the end of a job is in the
// transaction of its effect.
func (s *story) auditEffects(found *Findings) {
	times := map[string]int{}
	for _, jid := range s.effects {
		times[jid]++
		if s.jobs[jid] == nil {
			found.Add("an effect without a job", s.id, "%s", jid)
		}
	}
	for jid, j := range s.jobs {
		want := 0
		if j.handler == "book" && j.state == "success" {
			want = 1
		}
		if n := times[jid]; n != want {
			found.Add("an effect did not happen once", s.id, "%d times, and the job %s is %s", n, jid, j.state)
		}
	}
}

// auditEvents wants all events of the task, in order.
func (s *story) auditEvents(o *Outside, found *Findings) {
	n, delivered := 0, o.Delivered[s.id]
	for _, j := range s.jobs {
		if j.state == "event" {
			n++
		}
	}
	delivered = slices.DeleteFunc(slices.Clone(delivered), func(e Event) bool { return o.Lost[e.ID] })
	if len(delivered) != n {
		found.Add("events did not arrive", s.id, "%d of %d", len(delivered), n)
	}
	for i, e := range delivered {
		if v := e.AggregateVersion; v != i+1 {
			found.Add("events are out of order", s.id, "version %d came as number %d", v, i+1)
			break
		}
	}
}
