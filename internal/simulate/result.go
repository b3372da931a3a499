package simulate

import (
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// Result is what would happen.
type Result struct {
	Span
	Tasks []Task // in the order given
	Jobs  int    // submitted
	Most  int    // greatest number of jobs that run at a time
	At    time.Time
	// Hours are the numbers of jobs submitted in each hour, in UTC, from the hour of From on.
	Hours []int

	running int
	start   time.Time
}

// Task is what would become of a task's ticks.
type Task struct {
	ID     string
	Counts map[periodic.Decision]int // of ticks; missed ones one by one. More than 10,000 missed in a row count as 10,000
	Busy   time.Duration             // all its jobs together from From on, also what is left of them at the end
	// Problem is why there are no ticks, or no more.
	Problem string
	// Left is how many ticks still wait at the end.
	Left int
}

func newResult(s Span) *Result {
	start := s.From.UTC().Truncate(time.Hour)
	return &Result{Span: s, start: start, Hours: make([]int, int(s.To.Sub(start)/time.Hour)+1)}
}

// Busiest is the hour in which most jobs are submitted, the first one of several, and their
// number; 0 if there are none.
func (r *Result) Busiest() (hour time.Time, jobs int) {
	for i, n := range r.Hours {
		if n > jobs {
			hour, jobs = r.start.Add(time.Duration(i)*time.Hour), n
		}
	}
	return hour, jobs
}

// Hour is the time of an index into Hours.
func (r *Result) Hour(i int) time.Time { return r.start.Add(time.Duration(i) * time.Hour) }

func (r *Result) submit(at time.Time) {
	r.Jobs++
	r.Hours[int(at.Sub(r.start)/time.Hour)]++
}

func (r *Result) begin(at time.Time) {
	if r.running++; r.running > r.Most {
		r.Most, r.At = r.running, at
	}
}

func (r *Result) end() {
	r.running--
}

func (r *Result) finish(states []*state) {
	for _, st := range states {
		st.counts.Left = len(st.queued)
		r.Tasks = append(r.Tasks, *st.counts)
	}
}

// countedMissed is how many ticks a row stands for that does not say it.
const countedMissed = 10_000

func (t *Task) add(tick periodic.Tick) {
	n := 1
	switch {
	case tick.Missed < 0:
		n = countedMissed
	case tick.Missed > 1:
		n = tick.Missed
	}
	t.Counts[tick.Decision] += n
}
