package periodic

import (
	"context"
	"time"
)

// Pause suppresses the ticks of a task before a time. It sets Starts to the first
// tick of the timer from then on, so that intervals keep their rhythm. A task that
// starts later than that still does. To end a pause early, set Starts to the zero
// time.
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
