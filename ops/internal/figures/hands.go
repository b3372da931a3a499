package figures

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// AskedFor says how somebody has asked for the jobs of ticks, by their ids: they were run by hand or made up for.
func AskedFor(ctx context.Context, db sqldb.Opened, ticks []periodic.TickKey) (hands map[string]string, err error) {
	var rows []struct {
		JID, Reason sqldb.RowText
	}
	err = sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error {
		asked, err := tx.DB().Records(1, []sqldb.Field{sqldb.Text("id"), sqldb.Time("at")}, len(ticks), func(i int) []any { return []any{ticks[i].TaskID, ticks[i].Due} })
		if err != nil {
			return err
		}
		return tx.Select(ctx, &rows, `SELECT k.jid, k.reason
			FROM `+asked.SQL+` AS v CROSS JOIN periodic_tick AS k WHERE k.task_id = v.id AND k.due = v.at`, asked.Param)
	})
	hands = map[string]string{}
	for _, row := range rows {
		hands[string(row.JID)] = reasons.Hand(string(row.Reason))
	}
	return hands, err
}
