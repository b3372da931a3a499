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

func (s *server) resume(ctx context.Context, id string) error {
	_, err := s.tasks.Resume(ctx, id)
	return err
}
