package job

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue"
)

func limitCommand(env *ui.Env) *cobra.Command {
	var most ui.CountFlag
	command := aboutJobs(env, "limit", "Limit how many jobs of a handler or a group run at a time", func(c *cobra.Command, queue *jobqueue.Queue, what jobqueue.Pause) error {
		kind := what.Kind
		if most.Value == nil {
			was, err := queue.DropLimit(c.Context(), kind, what.Name)
			if err != nil {
				return err
			}
			if !was {
				return fmt.Errorf("%s %q has no limit; see: nextrun job limits", kindName(string(kind)), what.Name)
			}
			return env.Printf("no limit of %s %s any more\n", kindName(string(kind)), what.Name)
		}
		if err := queue.SetLimit(c.Context(), kind, what.Name, *most.Value); err != nil {
			return err
		}
		return env.Printf("at most %s of %s %s at a time\n", ui.Counted(*most.Value, "job"), kindName(string(kind)), what.Name)
	})
	command.PreRunE = func(c *cobra.Command, _ []string) error {
		if !c.Flags().Changed("most") {
			return ui.Usagef("give the limit with --most, a number from 1 on, or none")
		}
		return nil
	}
	command.Use = "limit --handler NAME | --group NAME, --most NUMBER"
	command.Long = `Limit how many jobs of a handler or a group run at a time, over all executors.
Jobs that run go on, also if they are more. Jobs beyond the limit wait, and others
go on. This limit comes before that of the handler in the configuration.`
	command.Example = "  nextrun job limit --handler backup --most 2\n  nextrun job limit --group imports --most none"
	command.Flags().Var(&most, "most", "how many, or none")
	return command
}

func limitsCommand(env *ui.Env) *cobra.Command {
	var list ui.ListFlags
	command := &cobra.Command{
		Use:   "limits",
		Short: "List the limits of handlers and groups",
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withQueue(c.Context(), env, func(queue *jobqueue.Queue) error {
				limits, err := queue.Limits(c.Context())
				if err != nil {
					return err
				}
				t := ui.NewTable("KIND", "NAME", "MOST", "RUNNING").IfEmpty("none; to set one: nextrun job limit --handler NAME --most NUMBER")
				return ui.PrintList(env, &list, t, limits, func(l *jobqueue.Limit) (any, []any) {
					kind := kindName(string(l.Kind))
					return ui.Object{{"kind", kind}, {"name", l.Name}, {"most", l.Most}, {"running", l.Running}}, []any{kind, l.Name, l.Most, l.Running}
				})
			})
		},
	}
	list.Register(command)
	return command
}
