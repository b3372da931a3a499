package task

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func pauseCommand(env *ui.Env) *cobra.Command {
	var pause periodic.Pause
	var until ui.TimeFlag
	command := severalTasks(env, "pause", "Pause tasks: what falls due is skipped", func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
		pause.Until = until.Value
		pause.By = cmp.Or(pause.By, env.Person())
		if err := tasks.Pause(ctx, id, pause); err != nil {
			return "", err
		}
		return "paused " + ui.Cell(id) + cmp.Or(untilText(env, pause), "; to end the pause: nextrun task resume "+id), nil
	})
	command.Long = `Pause tasks. Their timers go on, and each tick that falls due is recorded as skipped,
with who paused the task, until when and why. Ticks that wait for a job go on
waiting, jobs that are submitted already still run, and "nextrun task run" runs a
paused task all the same. The pause ends at --until, or with "nextrun task resume".`
	command.Example = `  nextrun task pause nightly-backup --until 'tomorrow 06:00' --reason 'the disk is being replaced'
  nextrun task pause --group reports --until 2h`
	command.Flags().Var(&until, "until", "when the pause ends by itself (default never)")
	command.Flags().StringVar(&pause.Reason, "reason", "", "why, for people")
	command.Flags().StringVar(&pause.By, "by", "", "who, for people (default USER@host)")
	return command
}

func resumeCommand(env *ui.Env) *cobra.Command {
	command := severalTasks(env, "resume", "End the pause of tasks", func(ctx context.Context, tasks *periodic.Tasks, id string) (string, error) {
		was, err := tasks.Resume(ctx, id)
		if err == nil && !was {
			return ui.Cell(id) + " was not paused", nil
		}
		return "resumed " + ui.Cell(id), err
	})
	command.Long = `End the pause of tasks. Ticks that were skipped in the meantime stay skipped; to run
them: nextrun task backfill.`
	return command
}

func untilText(env *ui.Env, p periodic.Pause) string {
	if p.Until.IsZero() {
		return ""
	}
	return " until " + env.Moment(p.Until)
}
