package periodic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/periodic/days"
)

// Action is what happens to a task.
type Action string

// The actions of [Tasks.Apply].
const (
	ActionAdd     Action = "add"
	ActionChange  Action = "change"
	ActionDisable Action = "disable"
	ActionDelete  Action = "delete"
)

// TaskChange is a task that Apply changes.
type TaskChange struct {
	ID      string
	Action  Action
	Columns []ColumnChange // of ActionChange
}

// ColumnChange is a column that changes.
type ColumnChange struct{ Column, From, To string }

// Applied is what [Tasks.Apply] did, or with DryRun would do.
type Applied struct {
	Tasks   int          // how many were declared
	Changes []TaskChange // in the order of the ids
	Days    []days.Row   // rows of calendars that were added
	Gone    []days.Row   // and removed
	// Disabled are tasks that are declared as enabled, and stay disabled, since somebody has disabled them.
	Disabled []string
	// Elsewhere are tasks that only run if a scheduler has their sink among its Submitters: [Tasks.With] has named none.
	Elsewhere []string
}

// String says it in a line, for a log.
func (a Applied) String() string {
	count := map[Action]int{}
	for _, c := range a.Changes {
		count[c.Action]++
	}
	tasks := "tasks"
	if a.Tasks == 1 {
		tasks = "task"
	}
	text := fmt.Sprintf("%d %s declared: %d added, %d changed", a.Tasks, tasks, count[ActionAdd], count[ActionChange])
	if n := count[ActionDisable] + count[ActionDelete]; n > 0 {
		text += fmt.Sprintf(", %d pruned", n)
	}
	if len(a.Disabled) > 0 {
		text += "; disabled by somebody, and left so: " + strings.Join(a.Disabled, ", ")
	}
	if len(a.Elsewhere) > 0 {
		text += "; warning: only a scheduler that has their sink among its Submitters runs " + strings.Join(a.Elsewhere, ", ")
	}
	return text
}

// versioned is a name of an origin with its version, as the column origin has it. 0: there is none.
func versioned(name string, version int64) string {
	if version == 0 {
		return name
	}
	return name + "@" + strconv.FormatInt(version, 10)
}

// unversioned are the name and the version in a column origin.
func unversioned(origin string) (name string, version int64) {
	name, digits, _ := strings.Cut(origin, "@")
	version, _ = strconv.ParseInt(digits, 10, 64) // what somebody has written by hand is no version
	return name, max(version, 0)
}

// OriginError is returned by [Tasks.Apply] for a task that another program or file declares.
type OriginError struct{ Has, Wants string }

// Error names both, and the remedy.
func (e *OriginError) Error() string {
	if e.Wants == "" {
		return fmt.Sprintf("%q declares it (column origin); change it there, or name that origin", e.Has)
	}
	return fmt.Sprintf("%q declares it (column origin), and %q may not; use another id, or set the column origin to %[2]q first", e.Has, e.Wants)
}

// OlderError is returned by [Tasks.Apply] if a newer version of the origin has declared tasks. Nothing was changed.
type OlderError struct {
	Origin         string
	Version, Newer int64
}

// Error names both versions, and how to go back.
func (e *OlderError) Error() string {
	return fmt.Sprintf("nothing was changed: version %d of %q has declared its tasks, and this is version %d; to go back on purpose, run: UPDATE periodic_task SET origin = '%s' WHERE origin = '%s'",
		e.Newer, e.Origin, e.Version, strings.ReplaceAll(e.Origin, "'", "''"), strings.ReplaceAll(versioned(e.Origin, e.Newer), "'", "''"))
}
