package periodic

import (
	"context"
	"time"
)

// Pause keeps a task from having ticks before a time: it sets Starts to the
// first tick of the timer then, so that intervals go on in their rhythm, and a
// task that starts later still does so. To end a pause early, set Starts to
// the zero time.
func (s *Tasks) Pause(ctx context.Context, id string, until time.Time) error {
	return s.Update(ctx, id, func(t *Task) error { return pause(t, until) })
}

func pause(t *Task, until time.Time) error {
	next, err := t.Upcoming(until.Add(-time.Microsecond), 1)
	if err != nil {
		return err
	}
	if t.Starts = until; len(next) > 0 {
		t.Starts = next[0].Due
	}
	return nil
}
