package diagnosis

import (
	"slices"
	"strings"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
	"github.com/nextrun/nextrun/periodic/sink"
)

// Verdict is the state of a task in a word or two.
func (f *Facts) Verdict(findings []Finding) string {
	t, end, last := &f.Task, f.end(), periodic.Tick{}
	if f.Last != nil {
		last = *f.Last
	}
	switch {
	case !t.Enabled:
		return "disabled"
	case t.Problem != "" && !strings.HasPrefix(t.Problem, reasons.WarningPrefix):
		return "blocked"
	case t.Pause.At(f.Now):
		return "paused"
	case f.Failed != nil && f.Failed.State == jobqueue.Failed, f.Failed == nil && end.Ended == sink.EndFailed:
		return "failed"
	case len(f.Jobs) > 0 && f.Jobs[0].State == jobqueue.Running:
		return "running"
	case len(f.Jobs) > 0 && f.Jobs[0].State == jobqueue.Stuck, f.pending != nil && f.pending.State == jobqueue.Stuck:
		return "retrying"
	case slices.ContainsFunc(findings, func(one Finding) bool { return one.Code == timerNever }):
		return "never elapses"
	case slices.ContainsFunc(findings, func(one Finding) bool { return one.Code == taskEnded }):
		return "ended"
	case len(f.Jobs) == 0 && f.Last == nil && f.Unread():
		return "not known"
	case f.unsteady != "":
		return "needs attention"
	case len(findings) > len(ofSkips(f))+len(ofHooks(f))+len(ofUnread(f)) && findings[0].Do != "": // these keep no job from running now
		return "waiting"
	case last.Ended == sink.EndUnknown, last.Ended == sink.EndCancelled:
		return string(last.Ended)
	case len(f.Jobs) > 0 && f.Jobs[0].State == jobqueue.Success, last.Ended.Succeeded(), f.Event != nil && !f.Event.Published.IsZero():
		return "ok"
	case len(f.Ticks) == 0:
		return "not run yet"
	case f.Event == nil && f.pending == nil && f.Last != nil: // how it ended is not known
		return "submitted"
	}
	return "waiting"
}
