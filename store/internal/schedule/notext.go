package schedule

import (
	"fmt"
	"unicode/utf8"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// areText fails if a claimed row holds bytes that are no text, as a PostgreSQL database
// without an encoding may. What would be made of them has to be written elsewhere: into
// JSON, and into tables of queues in other databases.
func (tx schedulerTx) areText(rows []taskRow) error {
	if tx.SQL().IsSQLite() {
		return nil
	}
	for i := range rows {
		if err := rows[i].isText(); err != nil {
			return err
		}
	}
	return nil
}

func (r *taskRow) isText() error {
	for _, column := range []struct {
		name string
		text sqldb.RowText
	}{
		{"id", r.ID}, {"task", r.Task}, {"group_", r.Group}, {"subject", r.Subject}, {"submitter", r.Submitter}, {"timer", r.Timer},
		{"summary", r.Summary}, {"overlap", r.Overlap}, {"catchup", r.Catchup}, {"sink", r.Sink},
		{"paused_by", r.PausedBy}, {"paused_reason", r.PausedReason},
	} {
		if !utf8.ValidString(string(column.text)) {
			return fmt.Errorf(`%w: the column %s holds an invalid byte sequence for encoding "UTF8": %.40q; write it anew`,
				sqldb.ErrUnreadable, column.name, string(column.text))
		}
	}
	return nil
}
