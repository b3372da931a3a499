package job

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue"
)

func pauseCommand(env *ui.Env) *cobra.Command {
	return aboutJobs(env, "pause", "Pause the jobs of a task or a group: none of them begins", func(c *cobra.Command, queue *jobqueue.Queue, what jobqueue.Pause) error {
		if err := queue.Pause(c.Context(), what.Kind, what.Name); err != nil {
			return err
		}
		return env.Printf("paused %s %s\n", what.Kind, what.Name)
	})
}

func resumeCommand(env *ui.Env) *cobra.Command {
	return aboutJobs(env, "resume", "Run the jobs of a paused task or group again", func(c *cobra.Command, queue *jobqueue.Queue, what jobqueue.Pause) error {
		was, err := queue.Resume(c.Context(), what.Kind, what.Name)
		if err != nil {
			return err
		}
		if !was {
			return fmt.Errorf("%s %q was not paused; see: nextrun job pauses", what.Kind, what.Name)
		}
		return env.Printf("resumed %s %s\n", what.Kind, what.Name)
	})
}

// aboutJobs makes a command about the jobs of a task or a group.
func aboutJobs(env *ui.Env, use, short string, do func(*cobra.Command, *jobqueue.Queue, jobqueue.Pause) error) *cobra.Command {
	var task, groupName string
	command := &cobra.Command{
		Use:   use + " --task NAME | --group NAME",
		Short: short,
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if (task == "") == (groupName == "") {
				return ui.Usagef("name either a --task or a --group")
			}
			what := jobqueue.Pause{Kind: jobqueue.PauseTask, Name: task}
			if groupName != "" {
				what = jobqueue.Pause{Kind: jobqueue.PauseGroup, Name: groupName}
			}
			return withQueue(c.Context(), env, func(queue *jobqueue.Queue) error { return do(c, queue, what) })
		},
	}
	command.Flags().StringVar(&task, "task", "", "`name` of the task")
	command.Flags().StringVar(&groupName, "group", "", "`name` of the group")
	return command
}

func pausesCommand(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "pauses",
		Short: "List paused tasks and groups",
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withQueue(c.Context(), env, func(queue *jobqueue.Queue) error {
				pauses, err := queue.Pauses(c.Context())
				if err != nil {
					return err
				}
				type line struct {
					Kind  jobqueue.PauseKind `json:"kind"`
					Name  string             `json:"name"`
					Since time.Time          `json:"since"`
				}
				var lines []line
				t := ui.NewTable("KIND", "NAME", "SINCE")
				for _, one := range pauses {
					lines = append(lines, line(one))
					t.Add(one.Kind, one.Name, env.Moment(one.Since))
				}
				return env.PrintTable(t, lines, asJSON)
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}
