package why

import (
	"strings"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/tick"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// verdict is the state of a task in a word or two.
func verdict(f *facts, findings []finding) string {
	t := &f.task
	switch {
	case !t.Enabled:
		return "disabled"
	case t.Problem != "" && !strings.HasPrefix(t.Problem, "warning:"):
		return "problem"
	case t.Pause.At(f.now):
		return "paused"
	case f.failed != nil && f.failed.State == jobqueue.Failed:
		return "failed"
	case len(f.jobs) > 0 && f.jobs[0].State == jobqueue.Running:
		return "running"
	case len(findings) > len(ofHooks(f)) && findings[0].Do != "": // hooks keep no job from running
		return "waiting"
	case len(f.jobs) > 0 && f.jobs[0].State == jobqueue.Success, f.event != nil && !f.event.Published.IsZero():
		return "ok"
	case len(f.ticks) == 0:
		return "not run yet"
	}
	return "waiting"
}

// report writes the explanation for people.
func report(env *ui.Env, f *facts, findings []finding) error {
	t := &f.task
	next := env.Moment(t.NextRun) + ", " + env.Ago(t.NextRun)
	switch {
	case !t.Enabled || !t.NextRun.Before(periodic.Never):
		next = "never"
	case !t.NextRun.After(periodic.Unplanned):
		next = "not planned yet"
	}
	fields := [][2]string{
		{"task", t.ID}, {"state", verdict(f, findings)}, {"last run", lastRun(env, f)}, {"next run", next},
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
		if err := env.Printf("- %s\n", one.Text); err != nil {
			return err
		}
		if one.Do != "" {
			if err := env.Printf("  > %s\n", one.Do); err != nil {
				return err
			}
		}
	}
	if len(f.output) > 0 {
		if err := env.Printf("\nThe end of the output of job %s:\n\n    %s\n", f.failed.JID, strings.Join(f.output, "\n    ")); err != nil {
			return err
		}
	}
	return history(env, f)
}

// lastRun is when the newest job or event was, and what became of it.
func lastRun(env *ui.Env, f *facts) string {
	if len(f.jobs) > 0 {
		j := f.jobs[0]
		text := string(j.State) + ", submitted " + env.Ago(j.Submitted)
		if !j.Finished.IsZero() && !j.Started.IsZero() {
			text = string(j.State) + ", " + env.Ago(j.Finished) + ", took " + span.Exact(j.Finished.Sub(j.Started))
		}
		return text
	}
	if f.last != nil {
		return "submitted " + env.Ago(f.last.Decided)
	}
	return "never"
}

// history writes the last ticks.
func history(env *ui.Env, f *facts) error {
	if len(f.ticks) == 0 {
		return nil
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	return tick.Ticks{List: f.ticks, Results: f.results}.PrintOfTask(env)
}

// reportJSON is the explanation for programs.
type reportJSON struct {
	ID       string     `json:"id"`
	State    string     `json:"state"`
	NextRun  *time.Time `json:"nextrun"`
	Findings []finding  `json:"findings"`
	Job      string     `json:"job,omitempty"`    // that failed last
	Output   []string   `json:"output,omitempty"` // the end of its log
}

func newReportJSON(f *facts, findings []finding) reportJSON {
	r := reportJSON{ID: f.task.ID, State: verdict(f, findings), Findings: findings, Output: f.output}
	if f.task.Enabled && f.task.NextRun.After(periodic.Unplanned) && f.task.NextRun.Before(periodic.Never) {
		r.NextRun = &f.task.NextRun
	}
	if findings == nil {
		r.Findings = []finding{}
	}
	if f.failed != nil {
		r.Job = f.failed.JID
	}
	return r
}
