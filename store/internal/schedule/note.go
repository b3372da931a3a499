package schedule

import (
	"context"
	"fmt"
	"strings"

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

// userColumnNames are those of [userColumns].
var userColumnNames = []string{"id", "enabled", "task", "group", "args", "subject", "submitter", "priority", "timer", "summary",
	"starts", "ends", "overlap", "catchup", "grace", "deadline", "jitter", "sink", "retry_limit", "retry_delay", "timeout", "concurrency"}

// changed says what differs between two versions of a task. Args may hold secrets, so
// only their name is in it.
func changed(from, to periodic.Task) string {
	var list []string
	after := userColumns(to)
	for i, value := range userColumns(from) {
		was, is := columnText(value), columnText(after[i])
		switch name := userColumnNames[i]; {
		case was == is:
		case name == "args":
			list = append(list, "args")
		default:
			list = append(list, fmt.Sprintf("%s from %s to %s", name, was, is))
		}
	}
	return strings.Join(list, "; ")
}

// columnText is a value of a column for people.
func columnText(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case sqldb.Timestamp:
		if v.Time().IsZero() {
			return "none"
		}
		return v.Time().Format("2006-01-02 15:04:05 UTC")
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(value)
}
