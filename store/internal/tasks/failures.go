package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// maxReason is the length of the column paused_reason.
const maxReason = 254

// failingSQL finds the tasks that are due at $1, and of which as many runs have failed in a row, since somebody resumed
// them, as their pause_after says. Nothing counts them when a job ends.
const failingSQL = `SELECT id, task, due, failures FROM (SELECT t.id, t.task, t.due, t.pause_after, (SELECT count(*) FROM periodic_run AS r WHERE r.task_id = t.id
			AND r.due > coalesce((SELECT k.due FROM periodic_run AS k WHERE k.task_id = t.id AND k.state = 'success' ORDER BY k.due DESC LIMIT 1), '0001-01-01 00:00:00.000000')
			AND r.state = 'failed' AND (t.resumed IS NULL OR r.finished > t.resumed)) AS failures
		FROM periodic_task AS t
		WHERE t.enabled AND t.worker IS NULL AND t.nextrun <= $1 AND t.due IS NOT NULL AND t.pause_after IS NOT NULL
			AND (t.paused IS NULL OR t.paused_until <= t.due)) AS f
	WHERE failures >= pause_after`

// failing is such a task.
type failing struct {
	ID, Task string
	Due      sqldb.RowTime
	Failures int
}

// PauseFailing implements scheduler.Store. A task that cannot be paused now, since its row is locked or refuses it, is
// left: its tick is decided as if it were well, and the next one pauses it.
func (s Store) PauseFailing(ctx context.Context, hooks batch.Hooks) error {
	var list []failing
	err := s.db.ViewWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) error { return tx.Select(ctx, &list, failingSQL, sqldb.Timestamp(tx.Now())) })
	for i := 0; i < len(list) && (err == nil || s.Fault(err) != service.FaultDatabase); i++ {
		err = s.db.UpdateWithin(ctx, sqldb.BriefLockWait, func(tx *sqldb.Tx) error { return pause(ctx, tx, list[i], hooks) })
	}
	if err != nil && s.Fault(err) == service.FaultDatabase {
		return fmt.Errorf("pause tasks that fail: %w", err)
	}
	return nil
}

// pause pauses a task as of the end of its last failure, unless it has changed, and tells the hooks.
func pause(ctx context.Context, tx *sqldb.Tx, f failing, hooks batch.Hooks) error {
	var last struct {
		Ended sqldb.RowTime
		Said  sqldb.RowText
	}
	err := tx.First(ctx, &last, `SELECT finished AS ended, result AS said FROM periodic_run WHERE task_id = $1 AND state = 'failed'
		ORDER BY due DESC LIMIT 1`, f.ID)
	if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return err
	}
	since := f.Due.Time()
	if ended := last.Ended.Time(); !ended.IsZero() && ended.Before(since) {
		since = ended
	}
	reason := pausedReason(f.Failures, string(last.Said))
	n, err := tx.Exec(ctx, `UPDATE periodic_task SET paused = $3, paused_until = NULL, paused_by = '`+periodic.PausedAfterFailures+`', paused_reason = $4
		WHERE id IN (SELECT id FROM periodic_task WHERE id = $1 AND due = $2 AND pause_after <= $5 AND enabled AND (paused IS NULL OR paused_until <= due)`+
		tx.SQL().ForUpdate+`)`, f.ID, sqldb.Timestamp(f.Due.Time()), sqldb.Timestamp(since), reason, f.Failures)
	if err != nil || n == 0 || hooks == nil {
		return err
	}
	return hooks.TellPaused(ctx, tx.DBTX(), tx.Now(), batch.PausedTask{ID: f.ID, Handler: f.Task, Reason: reason})
}

func pausedReason(failures int, said string) string {
	said = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(said)
	if said == "" {
		said = "it did not say why"
	}
	times := "failures"
	if failures == 1 {
		times = "failure"
	}
	return text.Clean(fmt.Sprintf("paused after %d %s in a row; the last: %s", failures, times, said), maxReason)
}
