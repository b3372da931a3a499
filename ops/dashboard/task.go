package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/periodic/sink"
)

// How much of the past and of the future a task shows.
const (
	taskTicks    = 50
	tableTicks   = 20
	taskUpcoming = 5
	lateLong     = 5 * time.Minute // from which on a late beginning is remarked
)

// taskView is the page of a task.
type taskView struct {
	timerNotes

	Row      taskRow        `json:"task"`
	Task     *periodic.Task `json:"-"`
	Why      whyView        `json:"why"`
	Settings []show.Setting `json:"settings"`
	Delayed  string         `json:"-"` // what delays the next run
	Overdue  time.Time      `json:"overdue_since,omitzero"`
	Args     string         `json:"args"`
	Upcoming []upcoming     `json:"upcoming"`
	Skips    []days.LeftOut `json:"skips"`          // ticks to come that people leave out
	Place    string         `json:"-"`              // the timer with a caret under what is wrong
	Ticks    []shownRun     `json:"ticks"`          // the newest first
	Rows     []tickRow      `json:"-"`              // these, as the table has them
	Until    time.Time      `json:"until,omitzero"` // they were due before it
	Older    time.Time      `json:"older,omitzero"` // until: of those before these
	Usual    string         `json:"usually_takes,omitempty"`
	Error    string         `json:"-"` // the last line of the run that failed last, if it says more than the finding
	Can      []string       `json:"-"` // what may be done with it now
	Typed    typed          `json:"-"`
	Retry    string         `json:"-"` // its last job, if that failed and may be tried again
	SQL      string         `json:"sql"`
	Edit     *edit          `json:"edit,omitempty"` // what somebody tries to change
	Took     plot           `json:"-"`
	New      bool           `json:"-"` // it does not exist yet
}

// typed is what somebody has typed of a pause that could not be read, and the tasks that it was for.
type typed struct {
	Until, Reason string
	ids           []string
}

func typedOf(q url.Values) typed {
	return typed{q.Get("typed_until"), q.Get("typed_reason"), q["typed_id"]}
}

// Has reports whether the task was selected.
func (t typed) Has(id string) bool { return slices.Contains(t.ids, id) }

// upcoming is a tick to come.
type upcoming struct {
	Due     time.Time `json:"due"`
	NextRun time.Time `json:"nextrun"`            // Due and the jitter
	Skipped bool      `json:"skipped"`            // since the task is paused then
	LeftOut string    `json:"left_out,omitempty"` // why a calendar leaves it out
}

func (s *server) taskPage(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	id := q.Get("id")
	switch {
	case q.Has("new"):
		return s.newTask(q)
	case id == "":
		return nil, frame.Bad("which task? Add ?id=ID to the address")
	}
	t, err := s.tasks.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	facts, err := view.Of(s.db).Tasks(ctx, []periodic.Task{t}, taskTicks)
	if err != nil {
		return nil, err
	}
	lost, err := view.Of(s.db).Losses(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	now, zone, runs, status := time.Now(), frame.Zone(r), facts[0].Runs, facts[0].Status()
	d := taskView{Row: s.row(&facts[0], zone), Task: &t, Settings: show.Settings(&t, s.mask), Args: s.mask.Args(t.Args), SQL: show.RowSQL(&t, s.mask),
		Typed: typedOf(q)}
	d.Row.Lost = lost[id].String()
	if err := d.readTicks(ctx, s, runs, q.Get("until"), zone); err != nil {
		return nil, err
	}
	d.Row.Cells = d.Row.Cells[max(len(d.Row.Cells)-shownTicks, 0):]
	if d.Why, err = s.why(ctx, id, zone); err != nil {
		return nil, err
	}
	d.lookAhead(now)
	if status.Cause == view.TaskOverdue {
		d.Overdue = status.Since
	}
	if t.Jitter > 0 && !t.Due.IsZero() && t.NextRun.After(t.Due) {
		d.Delayed = "its jitter adds " + text.Text(t.NextRun.Sub(t.Due))
	}
	d.Can, d.Error, d.Retry = d.actions(now), lastLine(&d.Why), s.failedJob(&d)
	d.Took = durations(s.prefix, runs, usual(successes(runs)), now, zone)
	if q.Has("edit") {
		d.Edit = s.tryEdit(t, q)
	}
	return &d, nil
}

// More reports whether there is more to say than that the last run failed.
func (d *taskView) More() bool {
	return len(d.Why.Output) > 0 && d.Row.State != view.Failed || slices.ContainsFunc(d.Why.Findings, d.Says)
}

// Says reports whether a finding stands in the list: the page says some elsewhere.
func (d *taskView) Says(f why.Finding) bool {
	switch f.Code {
	case "run_failed", "task_problem", "task_warning", "task_paused":
		return false
	case "tick_skipped":
		return d.Row.Pause == ""
	}
	return true
}

// lastLine is the last line of the output of the run that failed last, unless a finding has it already.
func lastLine(w *whyView) string {
	for _, line := range slices.Backward(w.Output) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "failed: "); line != "" {
			if slices.ContainsFunc(w.Findings, func(f why.Finding) bool { return strings.Contains(f.Text, line) }) {
				return ""
			}
			return line
		}
	}
	return ""
}

// failedJob is the job of the last tick, if it failed and may be tried again.
func (s *server) failedJob(d *taskView) string {
	last := d.Row.Last
	if last == nil {
		return ""
	}
	retrier, others := s.queues[d.Task.Sink].(sink.Retrier)
	putBack := others && retrier.Retries() && (last.State == "failed" || last.State == "cancelled")
	if putBack || last.State == "failed" && last.JID == d.Why.Job {
		return last.JID
	}
	return ""
}

// actions are those that fit the state of the task.
func (d *taskView) actions(now time.Time) []string {
	switch {
	case !d.Task.Enabled || d.Task.Blocked() != "":
		return nil
	case d.Task.Pause.At(now):
		return []string{"resume", "run"}
	}
	list := []string{"run", "pause"}
	if len(d.Upcoming) > 0 {
		list = append(list, "skip")
	}
	return list
}

// lookAhead adds the ticks to come, and what is odd or wrong about the timer.
func (d *taskView) lookAhead(now time.Time) {
	t := d.Task
	d.Skips = t.SkipsToCome(now)
	if t.Enabled {
		d.Upcoming = comingRuns(t, now)
	}
	if schedule, err := calendar.ParseAt(t.Timer, t.Anchor()); err == nil {
		d.timerNotes = notesOn(schedule, now)
	} else {
		d.Place = show.Place(err)
	}
}

// comingRuns are the next ticks of a task.
func comingRuns(t *periodic.Task, now time.Time) (list []upcoming) {
	coming, err := t.Upcoming(now, taskUpcoming)
	if err != nil {
		return nil
	}
	for _, u := range coming {
		list = append(list, upcoming{u.Due, u.NextRun, t.Pause.At(u.NextRun), u.LeftOut})
	}
	return list
}

// timerNotes are what may surprise whoever wrote a timer.
type timerNotes struct {
	Findings []string `json:"findings,omitempty"`
	Clocks   []string `json:"clock_changes,omitempty"` // what changes of the clock do to it
}

func notesOn(schedule calendar.Schedule, now time.Time) (n timerNotes) {
	for _, f := range explain.Lint(schedule, now) {
		if strings.HasPrefix(f.Code, "dst-") { // nothing is wrong now
			n.Clocks = append(n.Clocks, f.Sentence())
		} else {
			n.Findings = append(n.Findings, f.Sentence())
		}
	}
	return n
}
