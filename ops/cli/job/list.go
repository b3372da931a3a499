package job

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func listCommand(env *ui.Env) *cobra.Command {
	filter := jobqueue.Filter{}
	var states stateFlag
	var list ui.ListFlags
	command := &cobra.Command{
		Use:   "list",
		Short: "List jobs, newest first",
		Example: `  nextrun job list --task nightly-backup
  nextrun job list --state failed --since yesterday
  nextrun job list --state failed,retrying`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := list.Bounds(&filter.Since, &filter.Until, &filter.Limit); err != nil {
				return err
			}
			filter.States, filter.WithArgs = states, list.JSON
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				jobs, err := jobqueue.NewQueue(db.Jobs()).List(c.Context(), filter)
				if err == nil && len(jobs) == 0 && c.Flags().Changed("task") {
					err = find.Asked(c.Context(), periodic.NewTasks(db.Tasks()), filter.Tracker, "")
				}
				if err != nil {
					return err
				}
				none := ui.IfNone(c, "none; to run a task now: nextrun task run ID; to submit a single job: nextrun job submit HANDLER")
				return printJobs(env, jobs, none, &list)
			})
		},
	}
	flags := command.Flags()
	flags.Var(&states, "state", "only those in this state; may be given more than once")
	flags.StringVar(&filter.Group, "group", "", "only those of this group")
	flags.StringVar(&filter.Tracker, "task", "", "only those of the task with this `id`")
	flags.StringVar(&filter.Task, "handler", "", "only those that this handler runs")
	flags.StringVar(&filter.Worker, "worker", "", "only jobs that this worker runs or ran")
	list.RegisterLatest(command, "jobs submitted", jobqueue.DefaultListLimit)
	return command
}

func printJobs(env *ui.Env, jobs []jobqueue.Job, none string, list *ui.ListFlags) error {
	t := ui.NewTable("JOB", "TASK", "HANDLER", "STATE", "SUBMITTED", "STARTED", "TOOK", "RESULT").
		IDs("JOB").Least("STARTED", "HANDLER", "TOOK", "RESULT").IfEmpty(none)
	return ui.PrintList(env, list, t, jobs, func(j *jobqueue.Job) (any, []any) {
		state := jobState(j)
		if j.State == jobqueue.Waiting && !j.Retry.IsZero() {
			state += ", " + env.Ago(j.Retry)
		}
		return ui.ColumnsOf(j, jobqueue.Columns()), []any{
			j.JID, j.Tracker, j.Task, state, env.Ago(j.Submitted), env.Ago(j.Started), took(env, j), text.FirstLine(j.Result),
		}
	})
}

// jobState is the state of a job, of a running one with its progress.
func jobState(j *jobqueue.Job) string {
	switch {
	case !j.Cancel.IsZero() && !j.State.Final():
		return j.State.Word() + ", to be cancelled"
	case j.State == jobqueue.Running && j.Progress > 0:
		return fmt.Sprintf("%s %s %d %%", j.State, progressBar(j.Progress), j.Progress)
	}
	return j.State.Word()
}

// progressBar draws a percentage.
func progressBar(percent int) string {
	const width = 10
	done := min(max(percent, 0), 100) * width / 100
	return "[" + strings.Repeat("#", done) + strings.Repeat(".", width-done) + "]"
}

// took is how long a job's last attempt took, or takes so far.
func took(env *ui.Env, j *jobqueue.Job) string {
	switch {
	case j.Started.IsZero():
		return ""
	case !j.Finished.IsZero():
		return text.Exact(j.Finished.Sub(j.Started))
	case j.State == jobqueue.Running:
		return text.Exact(env.Now().Sub(j.Started))
	}
	return ""
}

// stateFlag is a flag that holds states of jobs.
type stateFlag []jobqueue.State

func (f *stateFlag) String() string { return "" }
func (f *stateFlag) Type() string   { return "state" }

// Set adds states, which commas separate.
func (f *stateFlag) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		state := jobqueue.StateOf(name)
		if !state.Valid() {
			var all []string
			for _, s := range jobqueue.States() {
				all = append(all, s.Word())
			}
			return fmt.Errorf("use one of %s", strings.Join(all, ", "))
		}
		*f = append(*f, state)
	}
	return nil
}
