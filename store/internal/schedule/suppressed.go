package schedule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/task"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// A trigger can suppress a change without an error: RETURN NULL on PostgreSQL,
// RAISE(IGNORE) on SQLite. The functions here look for that, in the same
// transaction, when fewer rows changed than expected. Their errors make the
// scheduler search for the row. A row that somebody else has locked is passed
// over.

// errSuppressed is why a task is set aside that does not take a change.
var errSuppressed = errors.New("the database accepts the change, but does not make it; look for a trigger that suppresses or alters it")

// errNotMarked is errSuppressed for a claim.
var errNotMarked = fmt.Errorf("%w: mark the task: %w", sqldb.ErrRefused, errSuppressed)

// lockCandidates locks the tasks that a claim may mark, and returns their number.
func (tx schedulerTx) lockCandidates(ctx context.Context, from candidates, args []any) (int, error) {
	var ids []string
	// The placeholder $1 of the claim, the mark, has to be used.
	err := tx.Select(ctx, &ids, from.with+` SELECT `+tx.SQL().Key("id")+` AS id FROM (`+from.union+`) AS u
		WHERE CAST($1 AS text) <> ''`, args...)
	return len(ids), err
}

// altered fails if a trigger wrote another mark into the row.
func altered(r taskRow, mark string, now sqldb.Timestamp) error {
	if string(r.Worker) != mark || !r.Marked.Time().Equal(now.Time()) {
		return errNotMarked
	}
	return nil
}

// lockLeft locks the tasks that still have our mark although their plans were not kept, and
// returns these plans. A row that somebody else has locked is passed over.
func (tx schedulerTx) lockLeft(ctx context.Context, mark string, plans []task.Plan, kept []string) (left []task.Plan, err error) {
	had := make(map[string]bool, len(kept))
	for _, id := range kept {
		had[id] = true
	}
	lost := map[string]task.Plan{}
	for _, p := range plans {
		if !had[p.Task.ID] {
			lost[p.Task.ID] = p
		}
	}
	r, err := tx.Texts(2, slices.Collect(maps.Keys(lost)))
	if err != nil {
		return nil, err
	}
	var still []string
	err = tx.Select(ctx, &still, `SELECT id FROM periodic_task WHERE worker = $1 AND id IN (SELECT v.value FROM `+r.SQL+` AS v)`+
		tx.SQL().LockRows, mark, r.Param)
	for _, id := range still {
		p, ok := lost[id]
		if !ok { // the database compares ids in another way
			return nil, fmt.Errorf("plan the next tick: %w", errSuppressed)
		}
		left = append(left, p)
	}
	return left, err
}

// suppressed fails if one of the ticks, given as records, does not exist.
func (tx tickTx) suppressed(ctx context.Context, ticks []periodic.Tick) error {
	r, err := tickRecords(tx.DB(), ticks)
	if err != nil {
		return err
	}
	var lost []string
	err = tx.Select(ctx, &lost, `SELECT v.task_id FROM `+r.SQL+` AS v WHERE NOT EXISTS (
		SELECT 1 FROM periodic_tick AS k WHERE k.task_id = v.task_id AND k.due = v.due)`, r.Param)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("insert into periodic_tick: %w", errSuppressed)
	}
	return err
}
