package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
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

// AskedFor says how somebody has asked for the jobs of ticks, by their ids: they were run by hand, made up for, or put back.
func AskedFor(ctx context.Context, db sqldb.Opened, ticks []periodic.TickKey) (hands map[string]string, err error) {
	var rows []struct {
		JID, Reason sqldb.RowText
		PutBack     sqldb.RowInt `db:"put_back"`
	}
	err = sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error {
		asked, err := tx.DB().Records(1, []sqldb.Field{sqldb.Text("id"), sqldb.Time("at")}, len(ticks), func(i int) []any { return []any{ticks[i].TaskID, ticks[i].Due} })
		if err != nil {
			return err
		}
		return tx.Select(ctx, &rows, `SELECT k.jid, k.reason, CASE WHEN EXISTS (SELECT 1 FROM periodic_action AS p WHERE p.jid = k.jid AND p.action = 'retry') THEN 1 ELSE 0 END AS put_back
			FROM `+asked.SQL+` AS v CROSS JOIN periodic_tick AS k WHERE k.task_id = v.id AND k.due = v.at`, asked.Param)
	})
	hands = map[string]string{}
	for _, row := range rows {
		hands[string(row.JID)] = reasons.Hand(string(row.Reason), row.PutBack.N == 1)
	}
	return hands, err
}
