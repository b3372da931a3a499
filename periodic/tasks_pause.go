package periodic

import "context"

// Pause pauses a task: its timer goes on, and what falls due is recorded as skipped.
// Ticks that are queued wait until the pause ends; the definition and the plan of the
// task stay. RunNow still runs it. A pause takes the place of an earlier one. Since is
// set to the database's now. A pause that is not good gives a [*TaskError].
func (s *Tasks) Pause(ctx context.Context, id string, p Pause) error {
	return s.store.Update(ctx, func(tx TaskTx) error {
		_, p.Since = tx.Bare()
		if err := p.Validate(id, p.Since); err != nil {
			return err
		}
		return about(id, tx.SetPause(ctx, id, p))
	})
}

// Resume ends the pause of a task, and reports whether it was paused.
func (s *Tasks) Resume(ctx context.Context, id string) (was bool, err error) {
	err = s.store.Update(ctx, func(tx TaskTx) error {
		t, err := tx.Get(ctx, id, true)
		if err != nil {
			return about(id, err)
		}
		_, now := tx.Bare()
		was = t.Pause.At(now)
		return about(id, tx.SetPause(ctx, id, Pause{}))
	})
	return was, err
}
