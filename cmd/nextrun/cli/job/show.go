package job

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue"
)

func showCommand(env *ui.Env) *cobra.Command {
	var asJSON, last bool
	command := &cobra.Command{
		Use:   "show JOB | --last ID",
		Short: "Show a job",
		Long: `Show a job. The beginning of its id is enough if no other job's begins so; with
--last the id of a task is, for the task's newest job.`,
		Example: "  nextrun job show 01a1ffd3\n  nextrun job show --last nightly-backup",
		Args:    ui.Arguments("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			return withJob(c.Context(), env, args[0], last, func(queue *jobqueue.Queue, job jobqueue.Job) error {
				if asJSON {
					return env.PrintJSON(newJobJSON(&job))
				}
				limits, err := queue.Limits(c.Context())
				if err != nil {
					return err
				}
				return env.PrintFields(jobFields(env, &job, limits))
			})
		},
	}
	lastFlag(command, &last)
	ui.JSONFlag(command, &asJSON)
	return command
}

// waitsForLimit names the limit that holds up a waiting job, if there is one.
func waitsForLimit(j *jobqueue.Job, limits []jobqueue.Limit) string {
	for _, l := range limits {
		of := map[jobqueue.LimitKind]string{jobqueue.LimitTask: j.Task, jobqueue.LimitGroup: j.Group}
		if of[l.Kind] == l.Name && l.Running >= l.Most {
			return fmt.Sprintf("the end of another: %d jobs of the %s %s run, and %d may (nextrun job limits)", l.Running, kindName(string(l.Kind)), l.Name, l.Most)
		}
	}
	return ""
}

func jobFields(env *ui.Env, j *jobqueue.Job, limits []jobqueue.Limit) [][2]string {
	waitsFor, next := "", env.Moment(j.Retry)
	switch {
	case j.State == jobqueue.Waiting && !j.Retry.IsZero():
		waitsFor, next = env.Moment(j.Retry)+", "+env.Ago(j.Retry), ""
	case j.State == jobqueue.Waiting:
		waitsFor = cmp.Or(waitsForLimit(j, limits), "a free executor that has a handler "+j.Task)
	}
	retries := ""
	if n := retryLimit(j); n != nil {
		retries = strconv.Itoa(*n)
	}
	return [][2]string{
		{"job", j.JID}, {"state", jobState(j)}, {"waits for", waitsFor}, {"result", j.Result}, {"handler", j.Task}, {"task", j.Tracker},
		{"due", env.Moment(j.Due)}, {"group", j.Group}, {"args", ui.Shorten(j.Args)}, {"subject", j.Subject},
		{"submitter", j.Submitter}, {"priority", strconv.Itoa(j.Priority)}, {"submitted", env.Moment(j.Submitted)},
		{"started", env.Moment(j.Started)}, {"finished", env.Moment(j.Finished)}, {"took", took(env, j)},
		{"retries", strconv.Itoa(j.Retries)}, {"next attempt", next}, {"worker", j.Worker},
		{"heartbeat", env.Ago(j.Heartbeat)}, {"cancel requested", env.Moment(j.Cancel)},
		{"retry limit", retries}, {"retry delay", ui.SecondsUnlessZero(j.Limits.RetryDelay)},
		{"timeout", ui.SecondsUnlessZero(j.Limits.Timeout)}, {"concurrency", ui.NumberUnlessZero(j.Limits.Concurrency)},
		{"traceparent", j.Traceparent},
	}
}
