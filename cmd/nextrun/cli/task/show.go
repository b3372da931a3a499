package task

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/tick"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// shownTicks is how many ticks `task show` shows.
const shownTicks = 5

func showCommand(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show ID",
		Short: "Show a task: its columns, its next elapses and its last ticks",
		Args:  ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return withTasks(c.Context(), env, func(tasks *periodic.Tasks) error {
				task, err := tasks.Get(c.Context(), args[0])
				if err != nil {
					return err
				}
				if asJSON {
					j := newTaskJSON(&task)
					j.Args = &task.Args
					return env.PrintJSON(j)
				}
				ticks, err := tasks.Ticks(c.Context(), periodic.TickFilter{TaskID: task.ID, Limit: shownTicks})
				if err != nil {
					return err
				}
				return showTask(env, &task, ticks)
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}

func showTask(env *ui.Env, t *periodic.Task, ticks []periodic.Tick) error {
	if err := env.PrintFields(taskFields(env, t)); err != nil {
		return err
	}
	if t.Enabled && t.NextRun.Before(periodic.Never) {
		if err := printUpcoming(env, t); err != nil {
			return err
		}
	}
	if len(ticks) == 0 {
		return nil
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	return tick.Print(env, ticks, false)
}

func taskFields(env *ui.Env, t *periodic.Task) [][2]string {
	next, left := plan(env, t)
	if left != "" {
		next += ", " + left
	}
	deadline := "none"
	if t.Deadline != nil {
		deadline = ui.Seconds(*t.Deadline)
	}
	retryLimit := ""
	if t.RetryLimit != nil {
		retryLimit = strconv.Itoa(*t.RetryLimit)
	}
	fields := [][2]string{
		{"id", t.ID}, {"problem", t.Problem}, {"enabled", ui.YesNo(t.Enabled)}, {"task", t.Task}, {"timer", t.Timer},
		{"next run", next}, {"due", env.Moment(t.Due)}, {"group", t.Group}, {"args", ui.Shorten(t.Args)},
		{"subject", t.Subject}, {"submitter", t.Submitter}, {"priority", strconv.Itoa(t.Priority)},
		{"starts", env.Moment(t.Starts)}, {"ends", env.Moment(t.Ends)}, {"overlap", string(t.Overlap)},
		{"catchup", string(t.Catchup)}, {"grace", ui.Seconds(t.Grace)}, {"deadline", deadline},
		{"jitter", ui.Seconds(t.Jitter)}, {"sink", string(t.Sink)},
		{"retry limit", retryLimit}, {"retry delay", ui.SecondsUnlessZero(t.RetryDelay)},
		{"timeout", ui.SecondsUnlessZero(t.Timeout)}, {"concurrency", ui.NumberUnlessZero(t.Concurrency)}, {"created", env.Moment(t.Created)},
		{"summary", t.Summary}, {"marked by", t.Worker},
	}
	if !t.Due.Before(periodic.Never) {
		fields[6][1] = ""
	}
	return fields
}
