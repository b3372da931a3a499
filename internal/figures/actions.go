package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Action is what somebody did.
type Action struct {
	At     time.Time
	Who    string
	Action string
	TaskID string // empty: it concerns no task
	JID    string // of the job or event; empty: it concerns none
	Detail string
}

// Actions reads what people did last, the newest first, at most limit of them. A task's
// id or a job's limits it to those that concern it.
func (r Reader) Actions(ctx context.Context, taskID, jid string, limit int) ([]Action, error) {
	var rows []struct {
		At     sqldb.RowTime
		Who    string
		Action string
		TaskID sqldb.RowText `db:"task_id"`
		JID    sqldb.RowText
		Detail sqldb.RowText
	}
	where, args := "", []any{limit}
	switch {
	case taskID != "":
		where, args = " WHERE task_id = $2", append(args, taskID)
	case jid != "":
		where, args = " WHERE jid = $2", append(args, jid)
	}
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, `SELECT at, who, action, task_id, jid, detail FROM periodic_action`+where+` ORDER BY id DESC LIMIT $1`, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("read what people did: %w", err)
	}
	list := make([]Action, len(rows))
	for i, row := range rows {
		list[i] = Action{row.At.Time(), row.Who, row.Action, string(row.TaskID), string(row.JID), string(row.Detail)}
	}
	return list, nil
}
