package periodic

import "strings"

// WarningPrefix begins a problem that is a warning: the task is scheduled all the
// same. Any other problem blocks its task until somebody changes it. The triggers
// and views of the database know the prefix, too.
const WarningPrefix = "warning:"

// UnreadablePrefix begins the problem of a task whose timer cannot be read: the text
// of a *calendar.ParseError. Its queued ticks wait until somebody changes the timer.
const UnreadablePrefix = `timer "`

// Warning returns the problem that warns of something.
func Warning(text string) string { return WarningPrefix + " " + text }

// CutWarning returns the text of a problem, and whether it is a warning.
func CutWarning(problem string) (text string, warning bool) {
	text, warning = strings.CutPrefix(problem, WarningPrefix)
	return strings.TrimSpace(text), warning
}

// Blocked is the problem that keeps a task from running; empty if none does.
func (t *Task) Blocked() string {
	if _, warning := CutWarning(t.Problem); warning {
		return ""
	}
	return t.Problem
}

const (
	waitsPrefix       = "the ticks wait: "               // the queue is to blame, not the row
	unscheduledPrefix = "the task cannot be scheduled: " // the row may be to blame, or something else
)

// Waits is the problem of a task whose queue cannot be used.
func Waits(cause error) string { return waitsPrefix + cause.Error() }

// WaitsFor is why the ticks of a task wait, if its problem lies in the queue.
func WaitsFor(problem string) (cause string, waits bool) {
	return strings.CutPrefix(problem, waitsPrefix)
}

// Unscheduled is the problem of a task that fails alone, for whatever reason.
func Unscheduled(cause error) string { return unscheduledPrefix + cause.Error() }

// BlamesRow reports whether a problem is known to lie in the row.
func BlamesRow(problem string) bool {
	return !strings.HasPrefix(problem, waitsPrefix) && !strings.HasPrefix(problem, unscheduledPrefix)
}
