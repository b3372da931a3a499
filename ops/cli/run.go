package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

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
	begun := false
	root := rootCommand(env)
	markBegin(env, root, &begun)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ui.Done
	}
	var usage *ui.UsageError
	var found *ui.FoundError
	if text := ui.Plainly(err); text != "" {
		env.Complain("%s: %s", command.CommandPath(), ui.SaidOnce(command, text))
	}
	if errors.As(err, &found) {
		return ui.Changes
	}
	if begun && !errors.As(err, &usage) {
		return ui.Failed
	}
	env.Complain("See: %s --help", command.CommandPath())
	return ui.WrongUsage
}

// markBegin makes every command of the tree set begun when it begins: what
// fails before that is wrong usage. By then all flags are known, on which times
// depend.
func markBegin(env *ui.Env, command *cobra.Command, begun *bool) {
	if run := command.RunE; run != nil {
		command.RunE = func(c *cobra.Command, args []string) error {
			resolveTimes(env, c)
			*begun = true
			return run(c, args)
		}
	}
	for _, c := range command.Commands() {
		markBegin(env, c, begun)
	}
}
