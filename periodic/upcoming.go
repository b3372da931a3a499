package periodic

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// Upcoming is a tick to come.
type Upcoming struct {
	Task    *Task
	Due     time.Time // its nominal time
	NextRun time.Time // when it is submitted: Due and the jitter
	LeftOut string    // why a calendar leaves it out; empty: it does not
}

// Upcoming returns the next ticks of the task's timer whose Due is later than a
// time, at most n, within Starts and Ends, whether the task is enabled or not, and also those
// that its calendars leave out.
// It returns a *calendar.ParseError if the timer cannot be read.
func (t *Task) Upcoming(after time.Time, n int) ([]Upcoming, error) {
	line, err := t.parse()
	if err != nil {
		return nil, err
	}
	var list []Upcoming
	for due := line.Next(after); len(list) < n && !due.IsZero(); due = line.Next(due) {
		list = append(list, Upcoming{t, due, due.Add(line.Delay(due)), line.Exclusion(due)})
	}
	return list, nil
}

// Schedule returns the ticks of the task: those of its timer between Starts and Ends, whether calendars or people leave
// them out or not. Its errors are those of Upcoming.
func (t *Task) Schedule() (calendar.Schedule, error) { return t.parse() }

// parse reads the timer. Its error wraps a *calendar.ParseError.
func (t *Task) parse() (timeline, error) {
	timer, err := calendar.ParseAt(t.Timer, t.Anchor())
	if err != nil {
		return timeline{}, fmt.Errorf("task %q: %w", t.ID, err)
	}
	return t.timeline(timer), nil
}

// Preview returns the ticks to come of tasks, in the order in which they are
// submitted if a scheduler runs all the time and no job is in the way: from now,
// up to but not including until. The plan of each row is honoured: what is due
// already or was set by hand comes first. Tasks that are not enabled, or whose
// timer cannot be read, have none; those that are paused have none of the timer's until
// the pause ends. What calendars leave out is not among them.
func Preview(tasks []Task, now, until time.Time) iter.Seq[Upcoming] {
	return func(yield func(Upcoming) bool) {
		var next forecasts
		for i := range tasks {
			if f := (&forecast{task: &tasks[i], row: tasks[i]}); f.decide(now, until) {
				next = append(next, f)
			}
		}
		for heap.Init(&next); len(next) > 0; {
			f := next[0]
			if !yield(f.ready[0]) {
				return
			}
			if f.ready = f.ready[1:]; len(f.ready) == 0 && !f.decide(now, until) {
				heap.Pop(&next)
			} else {
				heap.Fix(&next, 0)
			}
		}
	}
}

// forecasts are a heap: what is submitted next is at the top.
type forecasts []*forecast

func (l forecasts) Len() int      { return len(l) }
func (l forecasts) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *forecasts) Push(any)     {} // none is added later
func (l *forecasts) Pop() any     { *l = (*l)[:len(*l)-1]; return nil }

func (l forecasts) Less(i, j int) bool {
	a, b := &l[i].ready[0], &l[j].ready[0]
	return cmp.Or(a.NextRun.Compare(b.NextRun), cmp.Compare(a.Task.ID, b.Task.ID)) < 0
}

// forecast decides the ticks of a task ahead, as if no job was ever in the way.
type forecast struct {
	task  *Task
	row   Task              // as it will be
	timer calendar.Schedule // nil: not read yet
	ready []Upcoming        // what is submitted next, the earliest first
}

// decide makes ticks ready. It reports whether one of them is submitted before until.
func (f *forecast) decide(now, until time.Time) bool {
	t := &f.row
	if f.timer == nil {
		var err error
		if f.timer, err = calendar.ParseAt(t.Timer, t.Anchor()); err != nil || !t.Enabled {
			return false
		}
		t.Overlap = OverlapAllow
	}
	line := t.timeline(f.timer)
	for len(f.ready) == 0 {
		at := t.NextRun
		if at.Before(now) {
			at = now
		}
		if !at.Before(until) {
			return false
		}
		if p := t.Pause; p.At(at) && !t.Manual() {
			if p.Until.IsZero() {
				return false
			}
			at = p.Until // what is skipped until then is not gone through
			t.Due, t.NextRun, t.Since = time.Time{}, Unplanned, at.Add(-time.Microsecond)
		}
		f.take(line, t.Decide(f.timer, Facts{Now: at}, func(time.Time) string { return "" }))
	}
	return f.ready[0].NextRun.Before(until)
}

// take makes the ticks of a plan ready, and the plan that of the row.
func (f *forecast) take(line timeline, plan Plan) {
	for _, tick := range plan.Ticks {
		if tick.Decision == Submitted {
			f.ready = append(f.ready, Upcoming{f.task, tick.Due, tick.Due.Add(line.Delay(tick.Due)), ""})
		}
	}
	t := &f.row
	if len(f.ready) == 1 && (t.Manual() || f.ready[0].Due.Equal(t.Due)) {
		f.ready[0].NextRun = t.NextRun
	}
	t.Due, t.NextRun = plan.Due, plan.NextRun
}
