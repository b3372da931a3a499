package job

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/store"
)

func logCommand(env *ui.Env) *cobra.Command {
	var asJSON, follow, last bool
	command := &cobra.Command{
		Use:   "log JOB | --last ID",
		Short: "Show the log of a job",
		Long: `Show the log of a job. A part of its id is enough, if no other job's has it. With
--last, give the id of a task to see the log of its newest job.`,
		Example: "  nextrun job log 01a1ffd3\n  nextrun job log --last nightly-backup --follow",
		Args:    ui.Arguments("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			return withJob(c.Context(), env, args[0], last, func(db *store.DB, job jobqueue.Job) error {
				log := jobLog{env: env, queue: jobqueue.NewQueue(db.Jobs()), jid: job.JID, asJSON: asJSON}
				if follow {
					return log.follow(c.Context())
				}
				_, err := log.write(c.Context())
				return err
			})
		},
	}
	command.Flags().BoolVarP(&follow, "follow", "f", false, "follow the log until the job ends")
	lastFlag(command, &last)
	command.Flags().BoolVar(&asJSON, "json", false, "write a JSON object on each line, for programs")
	return command
}

// followInterval is how often a log is looked at that is followed.
const followInterval = 500 * time.Millisecond

// jobLog writes the log of a job as far as it has not been written yet.
type jobLog struct {
	env    *ui.Env
	queue  *jobqueue.Queue
	jid    string
	asJSON bool
	last   int64 // counter of the last line written
}

// write writes the new lines and reports whether the job had ended before.
func (l *jobLog) write(ctx context.Context) (ended bool, err error) {
	job, err := getJob(ctx, l.queue, l.jid)
	if err != nil {
		return false, err
	}
	for {
		lines, err := l.queue.Logs(ctx, jobqueue.LogFilter{JID: l.jid, After: l.last})
		if err != nil {
			return false, err
		}
		if len(lines) == 0 {
			return job.State.Final(), nil
		}
		before := l.last
		for _, line := range lines {
			if err := l.line(line); err != nil {
				return false, err
			}
			l.last = max(l.last, line.Counter)
		}
		if l.last == before { // lines that others wrote, without a counter
			return job.State.Final(), nil
		}
	}
}

// follow writes lines until the job has ended or ctx ends.
func (l *jobLog) follow(ctx context.Context) error {
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	for {
		ended, err := l.write(ctx)
		if err != nil || ended {
			if ctx.Err() != nil { // the user has ended it, which fails what is going on
				return nil
			}
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (l *jobLog) line(line jobqueue.LogLine) error {
	if l.asJSON {
		return ui.PrintJSONLine(l.env.Stdout, ui.Object{{"created", line.Created}, {"level", line.Level}, {"message", line.Message}})
	}
	before := fmt.Sprintf("%s  %-5s  ", l.env.Moment(line.Created), ui.Cell(string(line.Level)))
	message := strings.ReplaceAll(strings.ReplaceAll(line.Message, "\r\n", "\n"), "\n", "\n"+strings.Repeat(" ", len(before)))
	return l.env.Printf("%s%s\n", before, message) // no further line of it looks like one of the log
}
