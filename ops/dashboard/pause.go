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
func noNext(enabled, blocked bool, p periodic.Pause, now time.Time, zone *time.Location) string {
	switch {
	case !enabled:
		return "none while disabled"
	case blocked:
		return "none while blocked"
	case !p.At(now):
		return ""
	case p.Until.IsZero():
		return "skipped until resumed"
	}
	return "skipped until " + show.Clock(p.Until, now, zone)
}

func (s *server) resume(ctx context.Context, id string) error {
	_, err := s.tasks.Resume(ctx, id)
	return err
}
