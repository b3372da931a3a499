// Package imports has the commands that translate files of other programs into files for `nextrun task apply`.
package imports

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Command returns `nextrun import` with a command for each kind of file.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "import",
		Short: "Translate a crontab or an iCalendar file for task apply",
	}, crontabCommand(env), icsCommand(env))
}

// source is the file that a command is to translate.
type source struct {
	path string // of the file; -: standard input
	text string
}

// read reads the file that the arguments name, or standard input.
func read(env *ui.Env, args []string) (source, error) {
	path := "-"
	if len(args) > 0 {
		path = args[0]
	}
	text, err := ui.ReadFile(env.Stdin, path)
	return source{path, string(text)}, err
}

// name is what people call the file.
func (s source) name() string {
	if s.path == "-" {
		return "standard input"
	}
	return s.path
}

// leftOut is the error of a translation that is not whole; nil if nothing was left out.
func leftOut(n int, what string) error {
	if n == 0 {
		return nil
	}
	return errors.New("left out: " + ui.Counted(n, what))
}
