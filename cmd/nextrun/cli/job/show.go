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
	var asJSON bool
	command := &cobra.Command{
		Use:   "show JOB",
		Short: "Show a job",
		Args:  ui.Arguments("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			return withQueue(c.Context(), env, func(queue *jobqueue.Queue) error {
				job, err := getJob(c.Context(), queue, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					j := newJobJSON(&job)
					j.Args = &job.Args
					return env.PrintJSON(j)
				}
				limits, err := queue.Limits(c.Context())
				if err != nil {
					return err
				}
				return env.PrintFields(jobFields(env, &job, limits))
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}

// waitsForLimit names the limit that holds up a waiting job, if there is one.
func waitsForLimit(j *jobqueue.Job, limits []jobqueue.Limit) string {
	for _, l := range limits {
		of := map[jobqueue.LimitKind]string{jobqueue.LimitTask: j.Task, jobqueue.LimitGroup: j.Group}
		if of[l.Kind] == l.Name && l.Running >= l.Most {
			return fmt.Sprintf("the end of another: %d jobs of %s %s run, and %d may (nextrun job limits)", l.Running, l.Kind, l.Name, l.Most)
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
		{"job", j.JID}, {"state", jobState(j)}, {"waits for", waitsFor}, {"result", j.Result}, {"task", j.Task}, {"tracker", j.Tracker},
		{"due", env.Moment(j.Due)}, {"group", j.Group}, {"args", ui.Shorten(j.Args)}, {"subject", j.Subject},
		{"submitter", j.Submitter}, {"priority", strconv.Itoa(j.Priority)}, {"submitted", env.Moment(j.Submitted)},
		{"started", env.Moment(j.Started)}, {"finished", env.Moment(j.Finished)}, {"took", took(env, j)},
		{"retries", strconv.Itoa(j.Retries)}, {"next attempt", next}, {"worker", j.Worker},
		{"heartbeat", env.Ago(j.Heartbeat)}, {"cancel requested", env.Moment(j.Cancel)},
		{"retry limit", retries}, {"retry delay", ui.SecondsUnlessZero(j.Limits.RetryDelay)},
		{"timeout", ui.SecondsUnlessZero(j.Limits.Timeout)}, {"concurrency", ui.NumberUnlessZero(j.Limits.Concurrency)},
	}
}
