package rows

import (
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
)

// NextRun says how far away the next run of a task is, and when that is.
func NextRun(env *ui.Env, t *view.Task) (in, at string) {
	next := t.Status().Next
	switch p := t.Pause; {
	case !t.Enabled:
		return "disabled", ""
	case p.At(env.Now()) && p.Until.IsZero():
		return "paused", ""
	case p.At(env.Now()) && p.At(t.NextRun):
		return "paused", "until " + env.Moment(p.Until)
	case t.Blocked() != "":
		return "blocked", ""
	case t.Unplanned():
		return "not planned yet", ""
	case next.IsZero():
		return "never", ""
	}
	if in = env.Ago(next); !next.After(env.Now()) {
		in = "due " + in
	}
	return in, env.Moment(next)
}
