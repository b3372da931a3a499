// Package imports has the commands that translate files of other programs into files for `nextrun task apply`.
package imports

import (
	"errors"
	"fmt"

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
	path string // -: standard input
	name string // for people
	text string
}

// translator makes a command that translates the file of its argument, or standard input. What returns how many parts of
// the file it has left out and named.
func translator(env *ui.Env, command *cobra.Command, part string, what func(*cobra.Command, source) (leftOut int, err error)) *cobra.Command {
	command.Args = cobra.MaximumNArgs(1)
	command.RunE = func(c *cobra.Command, args []string) error {
		s := source{path: "-", name: "standard input"}
		if len(args) > 0 && args[0] != "-" {
			s = source{path: args[0], name: args[0]}
		}
		text, err := ui.ReadFile(env.Stdin, s.path)
		if err != nil {
			return err
		}
		s.text = string(text)
		leftOut, err := what(c, s)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", s.name, err)
		case leftOut > 0:
			return errors.New("left out: " + ui.Counted(leftOut, part))
		}
		return nil
	}
	return command
}
