package audit

import (
	"slices"
	"sort"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Recovery is what a fault cost.
type Recovery struct {
	fault.Fault
	Next   float64 `json:"next_job_s"`           // from its end to the next job that begins
	OnTime float64 `json:"on_time_s"`            // from its end to the next job of a tick that falls due after it and begins within a second
	Latest float64 `json:"latest_s,omitempty"`   // how late the latest job of a tick began that fell due meanwhile
	None   bool    `json:"unmeasured,omitempty"` // the run ended before
}

// onTime is how late a job may begin.
const onTime = time.Second

// begun is the first run of a job.
type begun struct{ due, begin time.Time }

// Recoveries measures what each fault cost, by the times at which jobs began that nothing else delays. Several lanes of
// faults run beside each other, so a fault may be charged with what another one cost.
func (f *Facts) Recoveries(faults []fault.Fault) []Recovery {
	byDue := f.firstRuns()
	byBegin := slices.Clone(byDue)
	slices.SortFunc(byDue, func(a, b begun) int { return a.due.Compare(b.due) })
	slices.SortFunc(byBegin, func(a, b begun) int { return a.begin.Compare(b.begin) })
	var list []Recovery
	for _, ft := range faults {
		r := Recovery{Fault: ft, None: true}
		if i := sort.Search(len(byBegin), func(i int) bool { return !byBegin[i].begin.Before(ft.End) }); i < len(byBegin) {
			r.Next = byBegin[i].begin.Sub(ft.End).Seconds()
		}
		for i := sort.Search(len(byDue), func(i int) bool { return !byDue[i].due.Before(ft.Begin) }); i < len(byDue); i++ {
			b := byDue[i]
			late := b.begin.Sub(b.due)
			if b.due.Before(ft.End) {
				r.Latest = max(r.Latest, late.Seconds())
			} else if late <= onTime {
				r.OnTime, r.None = b.begin.Sub(ft.End).Seconds(), false
				break
			}
		}
		list = append(list, r)
	}
	return list
}

// firstRuns are the first runs of the jobs of tasks that did not change, with quick jobs, no jitter and nothing to wait for.
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
	return list
}
