package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// Run runs the command line and returns its exit code, one of [ui.Done],
// [ui.Failed], [ui.WrongUsage] and [ui.Changes]. The end of ctx is the first signal:
// long-running commands finish the work in flight. getenv looks up environment
// variables, as os.Getenv does.
//
// Run keeps no state; it may be called several times at once.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	env := &ui.Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: getenv, Now: time.Now, Zone: time.Local}
	defer env.Finish()
	begun := false
	root := rootCommand(env)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		err := resolveTimes(env, c.Flags())
		begun = err == nil // what fails before is wrong usage
		return err
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ui.Done
	}
	if text := ui.Plainly(err); text != "" {
		env.Complain("%s: %s", command.CommandPath(), ui.SaidOnce(command, text))
	}
	code := ui.WrongUsage
	if begun {
		code = ui.Failed
	}
	if exit, is := errors.AsType[*ui.ExitError](err); is {
		code = exit.Code
	}
	if code == ui.WrongUsage {
		env.Complain("See: %s --help", command.CommandPath())
	}
	return code
}

// resolveTimes reads the times among flags, since the zone is known by now.
func resolveTimes(env *ui.Env, flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if at, is := f.Value.(*ui.TimeFlag); is && err == nil {
			if err = at.Resolve(env.Now(), env.Zone); err != nil {
				err = fmt.Errorf("invalid argument %q for \"--%s\" flag: %w", at, f.Name, err)
			}
		}
	})
	return err
}

// setZone sets the zone of the times that people read and write, by its name in the zone database.
func setZone(env *ui.Env, name string) error {
	schedule, err := calendar.Parse("12:00 " + name)
	if err != nil {
		what := err.Error()
		if _, text, found := strings.Cut(what, "unknown time zone"); found {
			what = "unknown time zone" + text
		}
		return errors.New(what)
	}
	env.Zone = calendar.Location(schedule)
	return nil
}
