package periodic

import (
	"fmt"
	"strings"
	"time"

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
	Kept    []TaskChange // what people have changed, from and to, and stays
	Newer   *Origin      // not nil: nothing was changed, since a newer program has declared other tasks
	// Elsewhere are tasks that only run if a scheduler has their sink among its Submitters: [Tasks.With] has named none.
	Elsewhere []string

	version int64 // of the program
}

// String says it in a line, for a log.
func (a Applied) String() string {
	if a.Newer != nil {
		return a.unchanged()
	}
	count := map[Action]int{}
	for _, c := range a.Changes {
		count[c.Action]++
	}
	text := fmt.Sprintf("%d tasks declared: %d added, %d changed", a.Tasks, count[ActionAdd], count[ActionChange])
	if n := count[ActionDisable] + count[ActionDelete]; n > 0 {
		text += fmt.Sprintf(", %d pruned", n)
	}
	for i, c := range a.Kept {
		text += [2]string{"; people changed ", ", "}[min(i, 1)] + c.ID
	}
	if len(a.Elsewhere) > 0 {
		text += "; warning: only a scheduler that has their sink among its Submitters runs " + strings.Join(a.Elsewhere, ", ")
	}
	return text
}

// unchanged says why nothing was changed. Of two programs of one version, nobody can tell a revert from an instance that
// has not been replaced yet.
func (a Applied) unchanged() string {
	who, remedy := "others of the same version have taken the place of these", ""
	if a.version < a.Newer.Version {
		who = fmt.Sprintf("a newer program has declared others (version %d; these have %d)", a.Newer.Version, a.version)
	}
	if a.version == 0 {
		remedy = " (0 now, as the program was built without version control)"
	}
	return fmt.Sprintf("tasks of %s unchanged: since %s UTC %s; if these are to be back, raise Apply.Version%s, or run: nextrun task origins --forget-version %[1]s",
		a.Newer.Name, a.Newer.Since.Format(time.DateTime), who, remedy)
}
