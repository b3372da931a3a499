package periodic

import "strings"

// What begins a problem says of what kind it is. Triggers write and views read the first, too.
const (
	// WarningPrefix: the task is scheduled all the same. Any other problem blocks its task until somebody changes it.
	WarningPrefix = "warning: "
	// WaitsPrefix: its queue cannot be used.
	WaitsPrefix = "the ticks wait: "
	// UnscheduledPrefix: the task fails alone. The row may be to blame, or something else.
	UnscheduledPrefix = "the task cannot be scheduled: "
	// UnreadablePrefix: its timer cannot be read. The problem is the text of a *calendar.ParseError.
	UnreadablePrefix = `timer "`

	// TableRefused is the reason of a tick whose job the queue refused although no job of the task is in the way.
	TableRefused = "the queue refused the job, although no job of the task is pending; check whether a unique index that you added forbids it"
)

// Blocked is the problem that keeps a task from running; empty if none does.
func (t *Task) Blocked() string {
	if strings.HasPrefix(t.Problem, WarningPrefix) {
		return ""
	}
	return t.Problem
}
