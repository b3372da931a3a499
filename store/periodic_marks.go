package store

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// isDated is true for a time of a mark that a scheduler may have written. SQLite
// takes any value, and sorts numbers before all texts.
const isDated = `marked >= '1970-01-01 00:00:00' AND marked < '9999-12-31 00:00:00'`

// markTime is the time of a mark. What cannot be read is a mark that has expired.
type markTime time.Time

// Scan implements [database/sql.Scanner].
func (t *markTime) Scan(src any) error {
	var at Timestamp
	if at.Scan(src) != nil {
		at = Timestamp(periodic.Unplanned)
	}
	*t = markTime(at)
	return nil
}

func (tx schedulerTx) ClearMarks(ctx context.Context, worker string, lease time.Duration) (int, error) {
	n, err := tx.exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL WHERE id IN (
			SELECT id FROM periodic_task WHERE worker IS NOT NULL AND (
				marked IS NULL OR marked < $1 OR marked > $2
				OR ($3 <> '' AND (worker = $3 OR substr(worker, 1, length($3) + 1) = $3 || '/')))`+
		tx.db.dialect.lockRows()+`)`,
		Timestamp(tx.now.Add(-lease)), Timestamp(tx.now.Add(lease)), worker)
	return int(n), err
}

func (tx schedulerTx) Unmark(ctx context.Context, marks []string) (left []string, err error) {
	r, err := tx.texts(1, marks)
	if err != nil {
		return nil, err
	}
	_, err = tx.exec(ctx, `UPDATE periodic_task SET worker = NULL, marked = NULL WHERE id IN (
			SELECT id FROM periodic_task WHERE worker IS NOT NULL AND worker IN (SELECT v.value FROM `+r.sql+` AS v)`+
		tx.db.dialect.lockRows()+`)`, r.param)
	if err != nil {
		return nil, err
	}
	err = tx.list(ctx, &left, `SELECT DISTINCT worker FROM periodic_task
		WHERE worker IS NOT NULL AND worker IN (SELECT v.value FROM `+r.sql+` AS v)`, r.param)
	return left, err
}
