package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Run is a job of a periodic task in nextrun's own queue that has begun.
type Run struct {
	TaskID   string
	JID      string
	State    string
	Due      time.Time
	Started  time.Time
	Finished time.Time // zero: it has not ended
}

// Runs reads the runs that ended after a time and those that have not ended, at most
// limit of each, the newest first.
func (r Reader) Runs(ctx context.Context, after time.Time, limit int) (list []Run, err error) {
	var rows []struct {
		TaskID   sqldb.RowText `db:"tracker"`
		JID      string
		State    string
		Due      sqldb.RowTime
		Started  sqldb.RowTime
		Finished sqldb.RowTime
	}
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		jobs, err := ownJobs(ctx, tx)
		if err != nil || !jobs {
			return err
		}
		const from = `SELECT tracker, jid, state, due, started, finished FROM job WHERE `
		return tx.Select(ctx, &rows, `SELECT * FROM (`+from+`finished > $1 ORDER BY finished DESC LIMIT $2) AS ended
			UNION ALL SELECT * FROM (`+from+`state IN ('scheduled', 'running') LIMIT $2) AS running`, sqldb.Timestamp(after), limit)
	})
	if err != nil {
		return nil, fmt.Errorf("read the runs: %w", err)
	}
	for _, row := range rows {
		if row.TaskID != "" && !row.Started.Time().IsZero() {
			list = append(list, Run{TaskID: string(row.TaskID), JID: row.JID, State: row.State, Due: row.Due.Time(),
				Started: row.Started.Time(), Finished: row.Finished.Time()})
		}
	}
	return list, nil
}
