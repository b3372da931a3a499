package rows

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/store"
)

func showJob(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show",
		Short: "Show a job",
		Long: `Show a job. A part of its id is enough, if no other job's has it. With --last, give
the id of a task to see its newest job.`,
		Example: "  nextrun job show 01a1ffd3\n  nextrun job show --last nightly-backup",
	}
	ui.JSONFlag(command, &asJSON)
	return ofJob(env, command, func(ctx context.Context, db *store.DB, job *jobqueue.Job) error {
		findings, err := why.ExplainJob(ctx, db, job, env.Zone)
		if err != nil {
			return err
		}
		if asJSON {
			return env.PrintJSON(append(ui.ColumnsOf(job, jobqueue.Columns()), [2]any{"findings", append([]why.Finding{}, findings...)}))
		}
		return env.PrintFields(jobFields(env, job, findings))
	})
}

// jobFields are the columns of a job that are set, what matters most first.
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
	said := map[string]string{"retries": tried, "args": ui.Shorten(j.Args)}
	called := map[string]string{"retry": "next attempt", "cancel": "cancel requested"}
	fields := [][2]string{
		{"job", j.JID}, {"state", jobState(j)}, {"why", reason}, {"to do", do}, {"result", j.Result}, {"took", took(env, j)},
		{"handler", j.Task}, {"task", j.Tracker}, {"due", env.Moment(j.Due)},
	}
	for _, c := range column.Without(jobqueue.Columns(), "jid", "state", "result", "handler", "task", "due", "single", "progress", "interrupts") {
		name := cmp.Or(called[c.Name], strings.ReplaceAll(c.Name, "_", " "))
		fields = append(fields, [2]string{name, cmp.Or(said[c.Name], env.Value(c.Get(j)))})
	}
	return fields
}
