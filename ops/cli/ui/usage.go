package ui

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	Done       = 0 // done, or nothing to do
	Failed     = 1 // it failed, or not all could be looked at
	WrongUsage = 2 // wrong usage: a command, a flag, an argument, a value
	Changes    = 3 // there are changes, or findings
)

// ExitError is an error with an exit code of its own. An empty one is not said.
type ExitError struct {
	Code int
	text string
}

func (e *ExitError) Error() string { return e.text }

// Foundf returns the error of a command that has looked at all there is, and found something.
func Foundf(format string, args ...any) error {
	return &ExitError{Changes, fmt.Sprintf(format, args...)}
}

// ErrChanges is the error of a command that has said which changes there are.
var ErrChanges = Foundf("")

// Usagef returns the error of wrong usage that is found after a command has begun.
func Usagef(format string, args ...any) error {
	return &ExitError{WrongUsage, fmt.Sprintf(format, args...)}
}

// SaidOnce is the text of an error without the words that the command's path has
// said already: the packages begin with what was attempted, as in "cancel job
// X: ..." or "list tasks: ...".
func SaidOnce(command *cobra.Command, text string) string {
	rest, ok := strings.CutPrefix(text, command.Name()+" ")
	if !ok || !command.HasParent() {
		return text
	}
	noun := command.Parent().Name()
	if reason, ok := strings.CutPrefix(rest, noun+"s: "); ok {
		return reason
	}
	if strings.HasPrefix(rest, noun+" ") {
		return rest
	}
	return text
}

// What the library says of flags that are no number and no duration.
var (
	noNumber   = regexp.MustCompile(`must be an? (non-negative )?integer$`)
	noDuration = regexp.MustCompile(`must be a duration like "30s" or "5m"$`)
)

// Plainly is an error in the words of the other messages, which say what to use.
func Plainly(err error) string {
	return noDuration.ReplaceAllString(noNumber.ReplaceAllString(err.Error(), "use a whole number"), "use a duration such as 90s or 10m")
}
