package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

func pauseOf(t *periodic.Task, now time.Time) string { return "" }

func (s *server) pause(ctx context.Context, id, user, reason string, until time.Time) error {
	return s.tasks.Pause(ctx, id, until)
}

func (s *server) resume(ctx context.Context, id string) error {
	return s.tasks.Pause(ctx, id, time.Time{})
}
