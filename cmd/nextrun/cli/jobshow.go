package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
)

func (p *program) jobShowCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show JOB",
		Short: "Show a job",
		Args:  arguments("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withQueue(c.Context(), func(queue *jobqueue.Queue) error {
				job, err := getJob(c.Context(), queue, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					j := newJobJSON(&job)
					j.Args = &job.Args
					return p.printJSON(j)
				}
				return p.printFields(p.jobFields(&job))
			})
		},
	}
	jsonFlag(command, &asJSON)
	return command
}

func (p *program) jobFields(j *jobqueue.Job) [][2]string {
	waitsFor := ""
	if j.State == jobqueue.Waiting {
		waitsFor = "a free executor that has a handler " + j.Task
	}
	return [][2]string{
		{"job", j.JID}, {"state", jobState(j)}, {"waits for", waitsFor}, {"result", j.Result}, {"task", j.Task}, {"tracker", j.Tracker},
		{"due", p.moment(j.Due)}, {"group", j.Group}, {"args", shorten(j.Args)}, {"subject", j.Subject},
		{"submitter", j.Submitter}, {"priority", strconv.Itoa(j.Priority)}, {"submitted", p.moment(j.Submitted)},
		{"started", p.moment(j.Started)}, {"finished", p.moment(j.Finished)}, {"took", p.took(j)},
		{"retries", strconv.Itoa(j.Retries)}, {"next attempt", p.moment(j.Retry)}, {"worker", j.Worker},
		{"heartbeat", p.ago(j.Heartbeat)}, {"to be cancelled since", p.moment(j.Cancel)},
	}
}
