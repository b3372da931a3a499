package periodic

import (
	"fmt"
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
	text := fmt.Sprintf("%d tasks declared: %d added, %d changed", a.Tasks, count[ActionAdd], count[ActionChange])
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
