package task

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
