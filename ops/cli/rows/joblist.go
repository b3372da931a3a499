package rows

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/store"
)

func listJobs(env *ui.Env) *cobra.Command {
	filter := jobqueue.Filter{Limit: jobqueue.DefaultListLimit}
	states := statesFlag()
	list := &List[jobqueue.Job]{
		Use:   "list",
		Short: "List jobs, newest first",
		Example: `  nextrun job list --task nightly-backup
  nextrun job list --state failed --since yesterday
  nextrun job list --state failed,retrying`,
		Of:   &Period{What: "jobs submitted", Since: &filter.Since, Until: &filter.Until, Limit: &filter.Limit},
		Task: &filter.Tracker,
		None: "none; to run a task now: nextrun task run ID; to submit a single job: nextrun job submit HANDLER",
		Table: ui.NewTable("JOB", "TASK", "HANDLER", "STATE", "SUBMITTED", "STARTED", "TOOK", "RESULT").
			IDs("JOB").Least("STARTED", "HANDLER", "TOOK", "RESULT"),
		Row: func(j *jobqueue.Job) (any, []any) {
			state := jobState(j)
			if j.State == jobqueue.Waiting && !j.Retry.IsZero() {
				state += ", " + env.Ago(j.Retry)
			}
			return ui.ColumnsOf(j, jobqueue.Columns()), []any{
				j.JID, j.Tracker, j.Task, state, env.Ago(j.Submitted), env.Ago(j.Started), took(env, j), text.FirstLine(j.Result),
			}
		},
	}
	list.Read = func(ctx context.Context, db *store.DB) ([]jobqueue.Job, error) {
		if filter.WithArgs = list.JSON; states.Value != nil {
			filter.States = *states.Value
		}
		return jobqueue.NewQueue(db.Jobs()).List(ctx, filter)
	}
	command := list.Command(env)
	flags := command.Flags()
	flags.Var(&states, "state", "only those in this state; commas separate several")
	flags.StringVar(&filter.Group, "group", "", "only those of this group")
	flags.StringVar(&filter.Tracker, "task", "", "only those of the task with this `id`")
	flags.StringVar(&filter.Task, "handler", "", "only those that this handler runs")
	flags.StringVar(&filter.Worker, "worker", "", "only jobs that this worker runs or ran")
	return command
}

// jobState is the state of a job, of a running one with its progress.
func jobState(j *jobqueue.Job) string {
	switch {
	case !j.Cancel.IsZero() && !j.State.Final():
		return j.State.Word() + ", to be cancelled"
	case j.State == jobqueue.Running && j.Progress > 0:
		return fmt.Sprintf("%s %d %%", j.State, j.Progress)
	}
	return j.State.Word()
}

// took is how long a job's last attempt took, or takes so far.
func took(env *ui.Env, j *jobqueue.Job) string {
	switch {
	case !j.Started.IsZero() && !j.Finished.IsZero():
		return text.Exact(j.Finished.Sub(j.Started))
	case !j.Started.IsZero() && j.State == jobqueue.Running:
		return text.Exact(env.Now().Sub(j.Started))
	}
	return ""
}
