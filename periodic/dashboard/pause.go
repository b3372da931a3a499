package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// pauseOf says who paused a task, until when and why; empty: it is not paused.
func pauseOf(t *periodic.Task, now time.Time) string {
	if !t.Pause.At(now) {
		return ""
	}
	return t.Pause.Text()
}

func (s *server) pause(ctx context.Context, id, user, reason string, until time.Time) error {
	return s.tasks.Pause(ctx, id, periodic.Pause{Until: until, By: user, Reason: reason})
}

func (s *server) resume(ctx context.Context, id string) error {
	_, err := s.tasks.Resume(ctx, id)
	return err
}
