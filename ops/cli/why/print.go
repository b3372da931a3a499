package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/tick"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/diagnosis"
	"github.com/nextrun/nextrun/periodic"
)

// report writes the explanation for people.
func report(env *ui.Env, f *diagnosis.Facts, findings []diagnosis.Finding) error {
	t := &f.Task
	next := env.Moment(t.NextRun) + ", " + env.Ago(t.NextRun)
	switch {
	case t.Enabled && t.Blocked() != "":
		next = "blocked"
	case !t.Enabled || !t.NextRun.Before(periodic.Never):
		next = "never"
	case !t.NextRun.After(periodic.Unplanned):
		next = "not planned yet"
	case t.Pause.At(f.Now) && t.Pause.Until.IsZero():
		next = "paused"
	case t.Pause.At(t.NextRun):
		next = "paused until " + env.Moment(t.Pause.Until)
	}
	fields := [][2]string{
		{"task", t.ID}, {"state", f.Verdict(findings)}, {"last run", lastRun(env, f)}, {"next run", next},
		{"timer", t.Timer}, {"summary", t.Summary},
	}
	if err := env.PrintFields(fields); err != nil {
		return err
	}
	for i, one := range findings {
		if i == 0 {
			if err := env.Printf("\n"); err != nil {
				return err
			}
		}
		if err := env.PrintProse("- ", one.Text); err != nil {
			return err
		}
		if one.Do != "" {
			if err := env.PrintProse("  > ", env.Hint(one.Do)); err != nil {
				return err
			}
		}
	}
	if len(f.Output) > 0 {
		if err := env.Printf("\nThe end of the output of job %s:\n\n    %s\n", f.Failed.JID, strings.Join(f.Output, "\n    ")); err != nil {
			return err
		}
	}
	return history(env, f)
}

// lastRun is when the newest job or event was, and what became of it.
func lastRun(env *ui.Env, f *diagnosis.Facts) string {
	if len(f.Jobs) > 0 {
		j := f.Jobs[0]
		line := j.State.Word() + ", submitted " + env.Ago(j.Submitted)
		if !j.Finished.IsZero() && !j.Started.IsZero() {
			line = j.State.Word() + ", " + env.Ago(j.Finished) + ", took " + text.Exact(j.Finished.Sub(j.Started))
		}
		return line
	}
	if k := f.Last; k != nil && k.Ended != "" {
		text := string(k.Ended) + ", " + env.Ago(k.Finished)
		if k.Attempts > 1 {
			text += fmt.Sprintf(", after %d attempts", k.Attempts)
		}
		return text
	}
	if f.Last != nil {
		return "submitted " + env.Ago(f.Last.Decided)
	}
	if f.Unread() {
		return "not known"
	}
	return "never"
}

// history writes the last ticks.
func history(env *ui.Env, f *diagnosis.Facts) error {
	if len(f.Ticks) == 0 {
		return nil
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	return tick.Ticks{List: f.Ticks, Results: f.Results}.PrintOfTask(env)
}

// reportJSON is the explanation for programs.
type reportJSON struct {
	ID       string              `json:"id"`
	State    string              `json:"state"`
	NextRun  *time.Time          `json:"nextrun"`
	Findings []diagnosis.Finding `json:"findings"`
	Job      string              `json:"job,omitempty"`    // that failed last
	Output   []string            `json:"output,omitempty"` // the end of its log
}

func newReportJSON(f *diagnosis.Facts, findings []diagnosis.Finding) reportJSON {
	r := reportJSON{ID: f.Task.ID, State: f.Verdict(findings), Findings: findings, Output: f.Output}
	if f.Task.Enabled && f.Task.NextRun.After(periodic.Unplanned) && f.Task.NextRun.Before(periodic.Never) {
		r.NextRun = &f.Task.NextRun
	}
	if findings == nil {
		r.Findings = []diagnosis.Finding{}
	}
	if f.Failed != nil {
		r.Job = f.Failed.JID
	}
	return r
}
