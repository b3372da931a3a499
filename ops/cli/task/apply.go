package task

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
)

func applyCommand(env *ui.Env) *cobra.Command {
	var path string
	var apply periodic.Apply
	prune := ui.Choice{Allowed: []string{string(periodic.PruneDisable), string(periodic.PruneDelete)}}
	command := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Make the table match a file of tasks",
		Long: `Make the table match a file of tasks, such as task export writes, in one
transaction. A task keeps its plan unless its timer, starts, ends or jitter change.
A calendar that the file names has the file's days afterwards; others stay.
--prune disables or deletes the tasks that the file does not name, except those of
other origins.

--origin NAME writes into the tasks that this file declares them. Then --prune touches
only tasks that it has declared, another file or program cannot declare them, and a
task that somebody has disabled stays so.`,
		Example: `  nextrun task apply -f tasks.yaml --dry-run
  nextrun task apply -f tasks.yaml --origin tasks.yaml --prune delete`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if path == "" {
				return ui.Usagef("missing -f FILE; - is standard input")
			}
			apply.Prune = periodic.Prune(prune.Value)
			return applyFile(c.Context(), env, path, apply)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&path, "file", "f", "", "the `file`; - is standard input")
	flags.Var(&prune, "prune", "what to do with tasks that the file does not name (default nothing)")
	flags.StringVar(&apply.Origin, "origin", "", "`name` of what declares the tasks, such as that of the file (default none)")
	flags.BoolVar(&apply.DryRun, "dry-run", false, "show the difference and change nothing; exit with 3 if there is one")
	return command
}

// applyFile makes the table match a file.
func applyFile(ctx context.Context, env *ui.Env, path string, apply periodic.Apply) error {
	text, err := ui.ReadFile(env.Stdin, path)
	if err != nil {
		return err
	}
	file, err := config.ParseTasks(path, text)
	if err != nil {
		return err
	}
	apply.Tasks, apply.Calendars = file.Tasks, file.Calendars
	return withWarnings(ctx, env, func(tasks *periodic.Tasks, warn func(*periodic.Task)) error {
		for i := range apply.Tasks {
			warn(&apply.Tasks[i])
		}
		done, err := tasks.Apply(ctx, apply)
		if err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
		return printApplied(env, &apply, &done)
	})
}

// printApplied says what was changed, or is to be changed.
func printApplied(env *ui.Env, apply *periodic.Apply, done *periodic.Applied) (err error) {
	for _, id := range done.Disabled {
		env.Complain("note: task %s stays disabled, since somebody has disabled it; see: nextrun task enable --help", ui.Cell(id))
	}
	for _, c := range done.Changes {
		err = cmp.Or(err, env.Printf("%-8s %s%s\n", c.Action, ui.Cell(c.ID), ui.ColumnChanges(c)))
	}
	printDay := func(action periodic.Action, r days.Row) {
		err = cmp.Or(err, env.Printf("%-8s %s, %s\n", action, ui.Cell(r.Text()), ui.Cell(r.When())))
	}
	for _, r := range done.Days {
		printDay(periodic.ActionAdd, r)
	}
	for _, r := range done.Gone {
		printDay(periodic.ActionDelete, r)
	}
	verb := "changed"
	if apply.DryRun {
		verb = "to change"
	}
	err = cmp.Or(err, env.Printf("%s: %d of %s in the file\n", verb, len(done.Changes), ui.Counted(len(apply.Tasks), "task")))
	if err == nil && apply.DryRun && len(done.Changes)+len(done.Days)+len(done.Gone) > 0 {
		return ui.ErrChanges
	}
	return err
}
