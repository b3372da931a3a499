package task

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
)

// shownRuns is how many of its newest runs a task is shown with.
const shownRuns = 5

// screen is all about a task.
type screen struct {
	*why.Explanation
	findings []why.Finding
}

func (s screen) printJSON(env *ui.Env) error {
	times := []time.Time{}
	if s.elapses() {
		coming, err := elapsesOf(env, s.Task.Task)
		if err != nil {
			return err
		}
		for _, u := range coming {
			if u.LeftOut == "" {
				times = append(times, u.Due)
			}
		}
	}
	ticks := []ui.Object{}
	for i := range s.runs() {
		ticks = append(ticks, rows.RunJSON(&s.Runs[i]))
	}
	object := append(taskJSON(&s.Explanation.Task, s.Status), [2]any{"findings", append([]why.Finding{}, s.findings...)},
		[2]any{"upcoming", times}, [2]any{"skips", s.Task.SkipsToCome(env.Now())}, [2]any{"ticks", ticks})
	if s.Failed != nil {
		object = append(object, [2]any{"job", s.Failed.JID}, [2]any{"output", append([]string{}, s.Output...)})
	}
	return env.PrintJSON(object)
}

// elapses reports whether there will be more ticks.
func (s screen) elapses() bool {
	p := s.Task.Pause
	_, unread := s.Task.Upcoming(s.Now, 1)
	return unread == nil && s.Task.Enabled && s.Task.NextRun.Before(periodic.Never) && s.Task.Blocked() == "" && (!p.At(s.Now) || !p.Until.IsZero())
}

func (s screen) runs() []view.Run { return s.Runs[:min(len(s.Runs), shownRuns)] }

func (s screen) print(env *ui.Env) error {
	err := cmp.Or(env.PrintFields(append(s.state(env), columns(env, s.Task.Task)...)), printFindings(env, s.findings))
	if s.Failed != nil {
		err = cmp.Or(err, printOutput(env, "output", s.Failed.JID, s.Output))
	}
	if s.elapses() {
		err = cmp.Or(err, printUpcoming(env, s.Task.Task))
	}
	if len(s.Runs) == 0 {
		return err
	}
	return cmp.Or(err, env.Printf("\n"), rows.PrintRuns(env, s.runs()))
}

func printFindings(env *ui.Env, findings []why.Finding) (err error) {
	if len(findings) > 0 {
		err = env.Printf("\n")
	}
	for _, one := range findings {
		err = cmp.Or(err, env.PrintProse("- ", one.Text))
		if one.Do != "" {
			err = cmp.Or(err, env.PrintProse("  > ", env.Hint(one.Do)))
		}
	}
	return err
}

// printOutput writes the end of what a job said.
func printOutput(env *ui.Env, what, jid string, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	return env.Printf("\nThe end of the %s of job %s:\n\n    %s\n", what, jid, strings.Join(lines, "\n    "))
}

// state is how the task is doing, and what comes next.
func (s screen) state(env *ui.Env) [][2]string {
	t := s.Task.Task
	next, at := rows.NextRun(env, &s.Explanation.Task)
	switch {
	case !t.Enabled:
		next = "never"
	case next == "paused" && at != "":
		next += " " + at
	case at != "":
		next = at + ", " + next
	}
	due := ""
	if !t.Due.IsZero() && t.Due.Before(periodic.Never) && !t.Due.Equal(t.NextRun) {
		due = env.Moment(t.Due) + ", and its jitter adds " + text.Text(t.NextRun.Sub(t.Due))
	}
	state := string(s.Status.State)
	if s.Unread() && len(s.Runs) == 0 && s.Status.State == view.New {
		state = "not known"
	}
	return [][2]string{
		{"task", t.ID}, {"state", state}, {"last run", s.lastRun(env)}, {"next run", next}, {"due", due},
		{"timer", t.Timer}, {"handler", t.Task}, {"summary", t.Summary},
	}
}

// lastRun is the last run in words: how it ended, when, and how long it took.
func (s screen) lastRun(env *ui.Env) string {
	r := s.Last()
	switch {
	case r == nil && s.Unread():
		return "not known"
	case r == nil && len(s.Runs) == 0:
		return "never"
	case r == nil:
		return ""
	}
	said := rows.Outcome(r) + ", " + env.Ago(ended(r))
	if r.Took() > 0 {
		said += ", took " + text.Exact(r.Took())
	}
	if r.Attempts > 1 {
		said += ", after " + strconv.Itoa(r.Attempts) + " attempts"
	}
	return said
}

// columns are the columns of a task that have not their defaults, but those that
// [screen.state] has.
func columns(env *ui.Env, t *periodic.Task) (fields [][2]string) {
	standard := periodic.NewTask("", "", "")
	for _, c := range column.OfUsers(periodic.Columns()) {
		if v := c.Get(t); v != c.Get(&standard) && !slices.Contains([]string{"id", "handler", "timer", "summary", "enabled"}, c.Name) {
			fields = append(fields, [2]string{strings.ReplaceAll(c.Name, "_", " "), env.Value(v)})
		}
	}
	return append(fields, [][2]string{{"declared by", t.Origin}, {"marked by", t.Worker}, {"created", env.Moment(t.Created)}}...)
}
