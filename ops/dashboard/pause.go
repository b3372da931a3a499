package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// pauseOf says who has paused a task, until when and why; empty: nobody.
func pauseOf(t *periodic.Task, now time.Time) string {
	if !t.Pause.At(now) {
		return ""
	}
	return t.Pause.Text()
}

func (s *server) resume(ctx context.Context, id string) error {
	_, err := s.tasks.Resume(ctx, id)
	return err
}
