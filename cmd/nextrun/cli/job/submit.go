package job

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func submitCommand(env *ui.Env) *cobra.Command {
	var job jobqueue.Job
	var limits ui.LimitFlags
	var at ui.TimeFlag
	command := &cobra.Command{
		Use:   "submit HANDLER",
		Short: "Submit a single job by hand",
		Example: `  nextrun job submit backup --args '{"full": true}' --priority 10
  nextrun job submit backup --at '2027-01-01 02:00'`,
		Args: ui.Arguments("HANDLER"),
		RunE: func(c *cobra.Command, args []string) error {
			if job.Task = args[0]; job.Task == "" {
				return ui.Usagef("the name of the handler is empty")
			}
			if job.Single && job.Tracker == "" {
				return ui.Usagef("--single needs a --tracker")
			}
			job.Retry, job.Traceparent = at.Value, env.Getenv("TRACEPARENT")
			if job.Limits = limitsOf(&limits); job.Limits.Concurrency > 0 && job.Tracker == "" {
				return ui.Usagef("--concurrency needs a --tracker, whose jobs are counted")
			}
			if err := ui.FromStdin(env.Stdin, &job.Args); err != nil {
				return err
			}
			if !json.Valid([]byte(job.Args)) {
				return ui.Usagef("--args is not JSON")
			}
			return submit(c.Context(), env, job)
		},
	}
	flags := command.Flags()
	flags.StringVar(&job.Group, "group", "default", "group of the job; groups take turns")
	flags.StringVar(&job.Args, "args", "{}", "input of the handler, `JSON`; - reads it from standard input")
	flags.StringVar(&job.Subject, "subject", "", "what the job is about")
	flags.StringVar(&job.Submitter, "submitter", "nextrun", "who submits it")
	flags.IntVar(&job.Priority, "priority", jobqueue.PriorityLow, "0 low, 10 high")
	flags.StringVar(&job.Tracker, "tracker", "", "`name` to find the job by")
	flags.BoolVar(&job.Single, "single", false, "refuse the job while another single job of the tracker has not ended")
	flags.Var(&at, "at", "when the job may begin: it waits until then; UTC without a zone (default now)")
	limits.Register(command, "the job", "such jobs of the tracker")
	return command
}

// submit submits a job, tells executors, and prints the job's id.
func submit(ctx context.Context, env *ui.Env, job jobqueue.Job) error {
	return env.WithDatabase(ctx, func(db *store.DB) error {
		return ui.Notifying(ctx, env, db, func(n *ui.Notifiers) error {
			jids, err := jobqueue.NewQueue(db.Jobs()).Submit(ctx, job)
			if err != nil {
				return err
			}
			n.Submitted(periodic.SinkJob)
			return env.Printf("submitted %s\n", jids[0])
		})
	})
}

// limitsOf are the limits that flags give.
func limitsOf(f *ui.LimitFlags) jobqueue.Limits {
	l := jobqueue.Limits{
		RetryLimit: f.RetryLimit.Number(), RetryDelay: f.RetryDelay.Duration(),
		Timeout: f.Timeout.Duration(), Concurrency: f.Concurrency.Number(),
	}
	if f.RetryLimit.Value != nil && l.RetryLimit == 0 {
		l.RetryLimit = jobqueue.Never
	}
	return l
}
