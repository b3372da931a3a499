package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// selection says which tasks a command is about.
type selection struct {
	all            bool
	group, handler string
}

// choose returns the ids of the tasks.
func (s selection) choose(ctx context.Context, tasks *periodic.Tasks, named []string) ([]string, error) {
	if len(named) > 0 {
		return named, nil
	}
	list, err := tasks.List(ctx, periodic.TaskFilter{Group: s.group, Task: s.handler})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, t := range list {
		ids = append(ids, t.ID)
	}
	return ids, nil
}

// severalTasks makes a command that does something with tasks, one after another: those
// that are named, all, or those of a group or a handler. do returns what it did.
func severalTasks(env *ui.Env, use, short string, do func(context.Context, *periodic.Tasks, string) (string, error)) *cobra.Command {
	var which selection
	command := &cobra.Command{
		Use:   use + " ID... | --all | --group NAME | --handler NAME",
		Short: short,
		Args: func(_ *cobra.Command, ids []string) error {
			filtered := which.all || which.group != "" || which.handler != ""
			switch {
			case len(ids) == 0 && !filtered:
				return ui.Usagef("missing argument ID; or use --all, --group or --handler")
			case len(ids) > 0 && filtered:
				return ui.Usagef("name either tasks, or --all, --group or --handler")
			}
			return nil
		},
		RunE: func(c *cobra.Command, named []string) error {
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				ids, err := which.choose(c.Context(), tasks, named)
				if err != nil {
					return err
				}
				if len(ids) == 0 {
					return env.Printf("no task of that kind; see: nextrun task list\n")
				}
				for _, id := range ids {
					done, err := do(c.Context(), tasks, id)
					if err != nil {
						return err
					}
					if err := env.Printf("%s\n", done); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	flags := command.Flags()
	flags.BoolVar(&which.all, "all", false, "all tasks but nextrun's own")
	flags.StringVar(&which.group, "group", "", "all tasks of this group")
	flags.StringVar(&which.handler, "handler", "", "all tasks whose jobs this handler runs")
	return command
}
