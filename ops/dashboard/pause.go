package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
)

// pauseOf says who has paused a task, until when and why; empty: nobody.
func pauseOf(t *periodic.Task, now time.Time, zone *time.Location) string {
	p, text := t.Pause, "paused"
	if !p.At(now) {
		return ""
	}
	if p.By != "" {
		text += " by " + p.By
	}
	text += " since " + show.Clock(p.Since, now, zone)
	if p.Until.IsZero() {
		text += ", until somebody resumes it"
	} else {
		text += " until " + show.Clock(p.Until, now, zone)
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// noNext says why a task has no next run, or what becomes of its ticks until it has one; empty: it has one.
func noNext(t *periodic.Task, now time.Time, zone *time.Location) string {
	switch {
	case !t.Enabled:
		return "none while disabled"
	case t.Blocked() != "":
		return "none while blocked"
	case t.Pause.At(now) && t.Pause.Until.IsZero():
		return "skipped until resumed"
	case t.Pause.At(now) && !t.NextRun.After(t.Pause.Until):
		return "skipped until " + show.Clock(t.Pause.Until, now, zone)
	case t.NextRun.Before(periodic.Never):
		return ""
	case !t.Ends.IsZero() && !t.Ends.After(now):
		return "none: it has ended"
	}
	return "none: its timer never elapses again"
}

func (s *server) resume(ctx context.Context, id string) error {
	_, err := s.tasks.Resume(ctx, id)
	return err
}
