package schedule

import (
	"context"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// note records what somebody did with a task, unless it failed.
func (tx taskTx) note(ctx context.Context, err error, action, id, detail string) error {
	if err != nil {
		return err
	}
	return tx.Note(ctx, sqldb.Action{Action: action, TaskID: id, Detail: detail})
}

// changed says what differs between two versions of a task. Args may hold secrets, so
// only their name is in it.
func changed(from, to *periodic.Task) string {
	var list []string
	for _, c := range userColumns {
		switch was, is := c.Get(from), c.Get(to); {
		case was == is:
		case c.Kind == column.JSON:
			list = append(list, c.Name)
		default:
			list = append(list, fmt.Sprintf("%s from %s to %s", c.Name, valueText(was), valueText(is)))
		}
	}
	return strings.Join(list, "; ")
}

// valueText is a value of a column for people.
func valueText(v column.Value) string {
	switch {
	case v.Null:
		return "none"
	case v.Kind == column.Time:
		return v.Time.Format("2006-01-02 15:04:05 UTC")
	case v.Kind == column.Text:
		return fmt.Sprintf("%q", v.Text)
	}
	return v.String()
}
