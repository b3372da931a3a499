package task

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// action does something with a task, and returns what it did.
type action func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error)

// on makes a command that does something with tasks, one after another: those that are named, all, or those of a
// group or a handler.
func on(env *ui.Env, command *cobra.Command, do action) *cobra.Command {
	var all bool
	var filter periodic.TaskFilter
	command.Use += " ID... | --all | --group NAME | --handler NAME"
	command.RunE = func(c *cobra.Command, ids []string) error {
		filtered := all || filter != periodic.TaskFilter{}
		if filtered == (len(ids) > 0) {
			return ui.Usagef("name either tasks, or --all, --group or --handler")
		}
		return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
			if filtered {
				list, err := tasks.List(c.Context(), filter)
				if err != nil {
					return err
				}
				for _, t := range list {
					ids = append(ids, t.ID)
				}
			}
			if len(ids) == 0 {
				return env.Printf("no task of that kind; see: nextrun task list\n")
			}
			return rows.Each(env, ids, func(id string) (string, error) { return do(c.Context(), tasks, id) })
		})
	}
	flags := command.Flags()
	flags.BoolVar(&all, "all", false, "all tasks")
	flags.StringVar(&filter.Group, "group", "", "all tasks of this group")
	flags.StringVar(&filter.Task, "handler", "", "all tasks whose jobs this handler runs")
	return command
}

func enableCommand(env *ui.Env) *cobra.Command {
	return on(env, &cobra.Command{
		Use:   "enable",
		Short: "Enable tasks; ticks of the time while they were disabled are not caught up",
	}, func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
		return "enabled " + ui.Cell(id), tasks.Enable(ctx, id)
	})
}

func disableCommand(env *ui.Env) *cobra.Command {
	return on(env, &cobra.Command{
		Use:   "disable",
		Short: "Disable tasks; jobs that are already submitted still run",
		Long: `Disable tasks: they have no ticks until they are enabled, and jobs that are already
submitted still run. To skip ticks for a while and see who did it and why:
nextrun task pause`,
	}, func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
		return "disabled " + ui.Cell(id), tasks.Disable(ctx, id)
	})
}

func pauseCommand(env *ui.Env) *cobra.Command {
	var pause periodic.Pause
	var until ui.TimeFlag
	command := on(env, &cobra.Command{
		Use:   "pause",
		Short: "Pause tasks: what falls due is skipped",
		Long: `Pause tasks. Their timers go on, and each tick that falls due is recorded as skipped,
with who paused the task, until when and why. Ticks that wait for a job go on
waiting, jobs that are submitted already still run, and "nextrun task run" runs a
paused task all the same. The pause ends at --until, or with "nextrun task resume".`,
		Example: `  nextrun task pause nightly-backup --until 'tomorrow 06:00' --reason 'the disk is being replaced'
  nextrun task pause --group reports --until 2h`,
	}, func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
		pause.Until, pause.By = until.Value, cmp.Or(pause.By, env.Person())
		ends := "; to end the pause: nextrun task resume " + text.Word(id)
		if !pause.Until.IsZero() {
			ends = " until " + env.Moment(pause.Until)
		}
		err := tasks.Pause(ctx, id, pause)
		if err == nil && !pause.Until.IsZero() {
			err = noteIdle(ctx, env, tasks, id, pause.Until)
		}
		return "paused " + ui.Cell(id) + ends, err
	})
	command.Flags().Var(&until, "until", "when the pause ends by itself (default never)")
	command.Flags().StringVar(&pause.Reason, "reason", "", "why, for people")
	command.Flags().StringVar(&pause.By, "by", "", "who, for people (default USER@host)")
	return command
}

// noteIdle says of a pause until a time that it skips no run.
func noteIdle(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, id string, until time.Time) error {
	t, err := tasks.Get(ctx, id)
	if err != nil {
		return err
	}
	t.Pause = periodic.Pause{}
	for range periodic.Preview([]periodic.Task{t}, env.Now(), until) {
		return nil
	}
	env.Complain("note: no run of %s falls due before then, so the pause skips none", ui.Cell(id))
	return nil
}

func resumeCommand(env *ui.Env) *cobra.Command {
	return on(env, &cobra.Command{
		Use:   "resume",
		Short: "End the pause of tasks",
		Long: `End the pause of tasks. Ticks that were skipped in the meantime stay skipped; to run
them: nextrun task backfill.`,
	}, func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
		was, err := tasks.Resume(ctx, id)
		if err == nil && !was {
			return ui.Cell(id) + " was not paused", nil
		}
		return "resumed " + ui.Cell(id), err
	})
}

func removeCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "rm ID...",
		Short: "Delete tasks; their jobs and recorded ticks stay",
		Args:  ui.Arguments("ID", "..."),
		RunE: func(c *cobra.Command, ids []string) error {
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				return rows.Each(env, ids, func(id string) (string, error) {
					return "deleted " + ui.Cell(id), tasks.Delete(c.Context(), id)
				})
			})
		},
	}
}
