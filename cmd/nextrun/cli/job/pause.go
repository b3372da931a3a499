package job

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue"
)

func pauseCommand(env *ui.Env) *cobra.Command {
	return aboutJobs(env, "pause", "Pause the jobs of a handler or a group: none of them begins", func(c *cobra.Command, queue *jobqueue.Queue, what jobqueue.Pause) error {
		if err := queue.Pause(c.Context(), what.Kind, what.Name); err != nil {
			return err
		}
		return env.Printf("paused %s %s\n", kindName(string(what.Kind)), what.Name)
	})
}

func resumeCommand(env *ui.Env) *cobra.Command {
	return aboutJobs(env, "resume", "Run the jobs of a paused handler or group again", func(c *cobra.Command, queue *jobqueue.Queue, what jobqueue.Pause) error {
		was, err := queue.Resume(c.Context(), what.Kind, what.Name)
		if err != nil {
			return err
		}
		if !was {
			return fmt.Errorf("%s %q was not paused; see: nextrun job pauses", kindName(string(what.Kind)), what.Name)
		}
		return env.Printf("resumed %s %s\n", kindName(string(what.Kind)), what.Name)
	})
}

// kindName is what people call a kind: the column says task and means the column task of
// the jobs, which names their handler.
func kindName(kind string) string {
	if kind == string(jobqueue.ScopeTask) {
		return "handler"
	}
	return kind
}

// aboutJobs makes a command about the jobs of a handler or a group.
func aboutJobs(env *ui.Env, use, short string, do func(*cobra.Command, *jobqueue.Queue, jobqueue.Pause) error) *cobra.Command {
	var handler, groupName, taskID string
	command := &cobra.Command{
		Use:   use + " --handler NAME | --group NAME",
		Short: short,
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if taskID != "" {
				return ui.Usagef("--task would mean a periodic task; name the handler with --handler, or pause the task: nextrun task pause %s", taskID)
			}
			if (handler == "") == (groupName == "") {
				return ui.Usagef("name either a --handler or a --group")
			}
			what := jobqueue.Pause{Kind: jobqueue.ScopeTask, Name: handler}
			if groupName != "" {
				what = jobqueue.Pause{Kind: jobqueue.ScopeGroup, Name: groupName}
			}
			return withQueue(c.Context(), env, func(queue *jobqueue.Queue) error { return do(c, queue, what) })
		},
	}
	command.Flags().StringVar(&handler, "handler", "", "`name` of the handler")
	command.Flags().StringVar(&taskID, "task", "", "")
	_ = command.Flags().MarkHidden("task") // for the error above
	command.Flags().StringVar(&groupName, "group", "", "`name` of the group")
	return command
}

func pausesCommand(env *ui.Env) *cobra.Command {
	var list ui.ListFlags
	command := &cobra.Command{
		Use:   "pauses",
		Short: "List paused handlers and groups",
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withQueue(c.Context(), env, func(queue *jobqueue.Queue) error {
				pauses, err := queue.Pauses(c.Context())
				if err != nil {
					return err
				}
				t := ui.NewTable("KIND", "NAME", "SINCE").
					IfEmpty("none; to pause jobs: nextrun job pause --group NAME; paused tasks are in: nextrun task list")
				return ui.PrintList(env, &list, t, pauses, func(p *jobqueue.Pause) (any, []any) {
					kind := kindName(string(p.Kind))
					return ui.Object{{"kind", kind}, {"name", p.Name}, {"since", p.Since}}, []any{kind, p.Name, env.Moment(p.Since)}
				})
			})
		},
	}
	list.Register(command)
	return command
}
