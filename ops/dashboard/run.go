package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/internal/when"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// logLines bounds the log that a page shows.
const logLines = 500

// runView is the page of a run: of a tick, told as `nextrun why --at` does, and of its job; or of a job of no tick.
type runView struct {
	*why.Story `json:"story,omitempty"`

	Job      *jobqueue.Job `json:"-"`             // nil: it is in another queue, gone, or was never there
	Own      *shownRun     `json:"job,omitempty"` // likewise
	State    string        `json:"state"`
	Name     string        `json:"-"` // the task, otherwise the handler
	Answer   string        `json:"answer,omitempty"`
	Findings []why.Finding `json:"findings,omitempty"` // why the job waits, if it does
	Bars     storyBars     `json:"-"`
	Args     string        `json:"args,omitempty"`
	Lines    []logLine     `json:"log"`
	More     bool          `json:"more"` // there are more lines, or some after FromLine
	FromLine int64         `json:"after,omitempty"`
	NextLine int64         `json:"next,omitempty"`
	Can      []string      `json:"-"` // what may be done with the job
	Unread   []string      `json:"unread,omitempty"`
	Event    bool          `json:"-"` // its task makes events
	Other    bool          `json:"-"` // it is the nearest to the time that was asked for, or the first of a day: nobody is to run it again by mistake
	Day      string        `json:"-"` // the address of the runs of the day that was asked for, if it has several
}

type logLine struct {
	At      time.Time `json:"at"`
	Level   string    `json:"level"`
	Message string    `json:"message"`
}

func (s *server) runPage(ctx context.Context, r *http.Request) (any, error) {
	q, zone := r.URL.Query(), frame.Zone(r)
	d := &runView{Lines: []logLine{}}
	job, task := q.Get("job"), q.Get("id")
	at, err := d.asked(ctx, s, task, q.Get("at"), zone)
	if err != nil {
		return nil, err
	}
	switch {
	case job != "":
		j, err := s.queue.Get(ctx, job)
		if err != nil {
			return nil, err
		}
		if !j.Due.IsZero() {
			task, at = j.Tracker, j.Due
		}
	case task == "":
		return nil, frame.Bad("which run? Add ?id=TASK&at=TIME or ?job=ID to the address")
	}
	if task != "" {
		if err := d.tell(ctx, s, task, at, zone); err != nil && (job == "" || !errors.Is(err, store.ErrNotFound)) {
			return nil, err
		}
	}
	d.Other = d.Day != "" || d.Story != nil && job == "" && !d.Due.Equal(d.Asked)
	if d.Story != nil && d.Run != nil && d.Run.Own() {
		job = cmp.Or(job, d.Run.JID)
	}
	if job != "" {
		_, _ = fmt.Sscan(q.Get("after"), &d.FromLine)
		err = d.readJob(ctx, s, job, zone)
	}
	return d, err
}

// tell adds what became of a tick.
func (d *runView) tell(ctx context.Context, s *server, task string, at time.Time, zone *time.Location) (err error) {
	story, err := why.Tell(ctx, s.db, task, at, zone)
	if err != nil {
		return err
	}
	d.Story, d.Name, d.State = story, task, story.State
	d.Answer, d.Unread = show.Shorten(show.Printable(s.mask.Line(story.Answer)), 600), story.Unread
	if d.Bars = s.bars(story.Steps, zone); story.Run != nil && !story.Run.Own() {
		t, err := s.tasks.Get(ctx, task)
		if err != nil {
			return err
		}
		d.Event = t.Sink == periodic.SinkEvent && d.JID != ""
		for _, line := range story.Output {
			d.Lines = append(d.Lines, logLine{Message: show.Shorten(show.Printable(s.mask.Line(line)), 500)})
		}
	}
	return nil
}

// readJob adds the job and its log.
func (d *runView) readJob(ctx context.Context, s *server, id string, zone *time.Location) error {
	j, err := s.queue.Get(ctx, id)
	if err != nil {
		return err
	}
	own := s.job(&j, nil)
	d.Job, d.Own = &j, &own
	d.State, d.Name, d.Args = string(j.State), cmp.Or(d.Name, j.Tracker, j.Task), s.mask.Args(j.Args)
	findings, err := why.ExplainJob(ctx, s.db, &j, zone)
	if err != nil {
		return err
	}
	if d.Findings = s.shownFindings(findings); j.State == jobqueue.Success && j.Tracker != "" {
		took, err := s.took(ctx, []string{j.Tracker})
		if err != nil {
			return err
		}
		own.Slow = slower(j.Finished.Sub(j.Started), usual(took[j.Tracker]))
	}
	if !d.Other && (j.State.Final() || j.State == jobqueue.Stuck) {
		d.Can = append(d.Can, "retry")
	}
	if !d.Other && j.Finished.IsZero() {
		d.Can = append(d.Can, "cancel")
	}
	return d.readLog(ctx, s)
}

func (d *runView) readLog(ctx context.Context, s *server) error {
	lines, err := s.queue.Logs(ctx, jobqueue.LogFilter{JID: d.Job.JID, After: d.FromLine, Limit: logLines + 1})
	if len(lines) > logLines {
		lines, d.More = lines[:logLines], true
		d.NextLine = lines[logLines-1].Counter
	}
	for _, l := range lines {
		d.Lines = append(d.Lines, logLine{l.Created, string(l.Level), show.Shorten(show.Printable(s.mask.Line(l.Message)), show.MostArgs)})
	}
	return err
}

// Result is the result of the job, if the story does not tell it.
func (d *runView) Result() string {
	if d.Job == nil || d.Story != nil && d.Bars.Bars != nil {
		return ""
	}
	return d.Own.Why
}

// storyBars are the steps of a story, and how long all of them lasted.
type storyBars struct {
	Bars  []storyBar
	Lasts time.Duration
}

// storyBar is a step, and its time as a part of a width of 1000.
type storyBar struct {
	why.Step

	At   string // when it began; empty: when the step before it did
	Path string
}

// Took is how long the step lasted.
func (b storyBar) Took() time.Duration { return b.To.Sub(b.From) }

// momentOf reads a time that is over, as links and people write it; isDay: a day without a time of day.
func momentOf(text string, now time.Time, zone *time.Location) (at time.Time, isDay bool, err error) {
	if at, err = when.Parse(text, when.Clock{Now: now, Zone: zone, Past: true}); err != nil {
		return at, false, frame.Bad("unknown time %q: %v", show.Printable(text), err)
	}
	return at, !strings.Contains(text, ":") && at.In(zone).Format(time.TimeOnly) == "00:00:00", nil
}

func endOfDay(day time.Time, zone *time.Location) time.Time {
	return day.In(zone).AddDate(0, 0, 1).UTC()
}

// asked is the time of the run that somebody wants to see: of a day that of its first one; zero: of the newest one.
func (d *runView) asked(ctx context.Context, s *server, task, text string, zone *time.Location) (time.Time, error) {
	if strings.TrimSpace(text) == "" {
		return time.Time{}, nil
	}
	at, isDay, err := momentOf(text, time.Now(), zone)
	if err != nil || !isDay {
		return at, err
	}
	first, several, err := s.runsOfDay(ctx, task, at, zone)
	d.Day = several
	return first, err
}

// runsOfDay is when the first run of a task on a day was due, or that day, and the address of the list of its runs if there are several.
func (s *server) runsOfDay(ctx context.Context, task string, day time.Time, zone *time.Location) (first time.Time, several string, err error) {
	to := endOfDay(day, zone)
	runs, err := view.Of(s.db).List(ctx, s.tasks, periodic.TickFilter{TaskID: task, DueFrom: day, DueTo: to, Oldest: true, Limit: 2})
	if first = day; len(runs) > 0 {
		first = runs[0].Due
	}
	if len(runs) > 1 {
		several = frame.Path(s.prefix, "runs", "task", task, "from", day.Format(time.RFC3339), "to", to.Format(time.RFC3339))
	}
	return first, several, err
}

// bars places steps between the first and the end of the last one.
func (s *server) bars(steps []why.Step, zone *time.Location) (bars storyBars) {
	if len(steps) == 0 {
		return bars
	}
	from := steps[0].From
	to := slices.MaxFunc(steps, func(a, b why.Step) int { return a.To.Compare(b.To) }).To
	bars.Lasts = to.Sub(from)
	place := func(at time.Time) int { return int(1000 * at.Sub(from) / max(bars.Lasts, 1)) }
	before := ""
	for i := range steps {
		step := &steps[i]
		step.Text = show.Shorten(show.Printable(s.mask.Line(step.Text)), 500)
		layout, at := time.TimeOnly, step.From.In(zone)
		if at.Format(time.DateOnly) != from.In(zone).Format(time.DateOnly) {
			layout = "2 Jan 15:04:05"
		}
		bar := storyBar{Step: *step, At: at.Format(layout)}
		x := min(place(step.From), 994)
		bar.Path = fmt.Sprintf("M%d 18v-15h%dv15z", x, max(place(step.To)-x, 6))
		if bar.At == before {
			bar.At = ""
		}
		before, bars.Bars = at.Format(layout), append(bars.Bars, bar)
	}
	return bars
}
