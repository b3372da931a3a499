package job

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/store"
)

func showCommand(env *ui.Env) *cobra.Command {
	var asJSON, last bool
	command := &cobra.Command{
		Use:   "show JOB | --last ID",
		Short: "Show a job",
		Long: `Show a job. A part of its id is enough, if no other job's has it. With --last, give
the id of a task to see its newest job.`,
		Example: "  nextrun job show 01a1ffd3\n  nextrun job show --last nightly-backup",
		Args:    ui.Arguments("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			return withJob(c.Context(), env, args[0], last, func(db *store.DB, job jobqueue.Job) error {
				findings, err := why.OfJob(c.Context(), db, &job, env.Zone)
				if err != nil {
					return err
				}
				if asJSON {
					return env.PrintJSON(append(ui.ColumnsOf(&job, jobqueue.Columns()),
						[2]any{"findings", append([]why.Finding{}, findings...)}))
				}
				return env.PrintFields(jobFields(env, &job, findings))
			})
		},
	}
	lastFlag(command, &last)
	ui.JSONFlag(command, &asJSON)
	return command
}

func jobFields(env *ui.Env, j *jobqueue.Job, findings []why.Finding) [][2]string {
	reason, do := "", ""
	for _, f := range findings {
		if f.Code != "job_running" || j.Foreign() { // state and worker say that
			reason, do = f.Text, env.Hint(f.Do)
		}
	}
	tried := strconv.Itoa(j.Retries)
	if j.Limits.RetryLimit > 0 {
		tried += " of " + strconv.Itoa(j.Limits.RetryLimit)
	}
	if j.State == jobqueue.Stuck {
		tried += ", with the one to come"
	}
	fields := [][2]string{
		{"job", j.JID}, {"state", jobState(j)}, {"why", reason}, {"to do", do}, {"result", j.Result}, {"handler", j.Task}, {"task", j.Tracker},
		{"due", env.Moment(j.Due)}, {"group", j.Group}, {"args", ui.Shorten(j.Args)}, {"subject", j.Subject},
		{"submitter", j.Submitter}, {"priority", strconv.Itoa(j.Priority)}, {"submitted", env.Moment(j.Submitted)},
		{"started", env.Moment(j.Started)}, {"finished", env.Moment(j.Finished)}, {"took", took(env, j)},
		{"retries", tried}, {"next attempt", env.Moment(j.Retry)}, {"worker", j.Worker},
		{"cancel requested", env.Moment(j.Cancel)},
	}
	rest := column.Without(jobqueue.Columns(), "jid", "state", "result", "handler", "task", "due", "group", "args", "subject", "submitter",
		"priority", "submitted", "started", "finished", "retries", "retry", "worker", "cancel", "single", "progress", "interrupts")
	for _, c := range rest {
		fields = append(fields, [2]string{strings.ReplaceAll(c.Name, "_", " "), env.Value(c.Get(j))})
	}
	return fields
}
