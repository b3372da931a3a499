package rows

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/notify"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func submitJob(env *ui.Env) *cobra.Command {
	standard := jobqueue.Job{Group: "default", Args: "{}", Submitter: "nextrun", Priority: jobqueue.PriorityLow}
	var f *ui.ColumnFlags[jobqueue.Job]
	var at ui.TimeFlag
	command := &cobra.Command{
		Use:   "submit HANDLER",
		Short: "Submit a single job by hand",
		Example: `  nextrun job submit backup --args '{"full": true}' --priority 10
  nextrun job submit backup --at '2027-01-01 02:00'`,
		Args: ui.Arguments("HANDLER"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.ReadArgs(env.Stdin); err != nil {
				return err
			}
			job := standard
			f.Apply(&job)
			job.Task, job.Retry, job.Traceparent = args[0], at.Value, env.Getenv("TRACEPARENT")
			switch {
			case job.Task == "":
				return ui.Usagef("the name of the handler is empty")
			case job.Single && job.Tracker == "":
				return ui.Usagef("--single needs a --task")
			case !json.Valid([]byte(job.Args)):
				return ui.Usagef("--args is not JSON")
			}
			return env.Submitting(c.Context(), func(db *store.DB, _ *periodic.Tasks, n *notify.Notifier) error {
				jids, err := jobqueue.NewQueue(db.Jobs()).Submit(c.Context(), job)
				if err != nil {
					return err
				}
				n.Submitted(periodic.SinkJob)
				return env.Printf("submitted %s\n", jids[0])
			})
		},
	}
	f = ui.NewColumnFlags(command, jobqueue.SubmitColumns(), &standard)
	command.Flags().Var(&at, "at", "when the job may begin: it waits until then (default now)")
	return command
}
