package rows

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

func logOfJob(env *ui.Env) *cobra.Command {
	var asJSON, follow bool
	command := &cobra.Command{
		Use:   "log",
		Short: "Show the log of a job",
		Long: `Show the log of a job. A part of its id is enough, if no other job's has it. With
--last, give the id of a task to see the log of its newest job.`,
		Example: "  nextrun job log 01a1ffd3\n  nextrun job log --last nightly-backup --follow",
	}
	command.Flags().BoolVarP(&follow, "follow", "f", false, "follow the log until the job ends")
	command.Flags().BoolVar(&asJSON, "json", false, "write a JSON object on each line, for programs")
	return ofJob(env, command, func(ctx context.Context, db *store.DB, job *jobqueue.Job) error {
		log := jobLog{env: env, queue: jobqueue.NewQueue(db.Jobs()), asJSON: asJSON}
		err := log.write(ctx, job.JID)
		for look := time.Tick(followInterval); follow && err == nil && !job.State.Final(); {
			<-look
			if *job, err = log.queue.Get(ctx, job.JID); err == nil {
				err = log.write(ctx, job.JID)
			}
		}
		if err == nil && !log.written {
			env.Complain("job %s has no log", ui.Cell(job.JID))
		}
		return err
	})
}

// followInterval is how often a log is looked at that is followed.
const followInterval = 500 * time.Millisecond

// jobLog writes the log of a job as far as it has not been written yet.
type jobLog struct {
	env    *ui.Env
	queue  *jobqueue.Queue
	asJSON bool
	last   int64 // counter of the last line written

	written bool // a line
}

// write writes the new lines.
func (l *jobLog) write(ctx context.Context, jid string) error {
	for {
		lines, err := l.queue.Logs(ctx, jobqueue.LogFilter{JID: jid, After: l.last})
		if err != nil {
			return err
		}
		before := l.last
		for _, line := range lines {
			if err := l.line(line); err != nil {
				return err
			}
			l.last = max(l.last, line.Counter)
		}
		if l.last == before { // no more lines, or those that others wrote, without a counter
			return nil
		}
	}
}

func (l *jobLog) line(line jobqueue.LogLine) error {
	l.written = true
	if l.asJSON {
		return ui.PrintJSONLine(l.env.Stdout, ui.Object{{"created", line.Created}, {"level", line.Level}, {"message", line.Message}})
	}
	before := fmt.Sprintf("%s  %-5s  ", l.env.Moment(line.Created), ui.Cell(string(line.Level)))
	message := strings.ReplaceAll(strings.ReplaceAll(line.Message, "\r\n", "\n"), "\n", "\n"+strings.Repeat(" ", len(before)))
	return l.env.Printf("%s%s\n", before, message) // no further line of it looks like one of the log
}
