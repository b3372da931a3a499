package rows

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/notify"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func cancelJobs(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel JOB...",
		Short: "Cancel jobs; a running job is asked to end",
		Long: `Cancel jobs; a running job is asked to end. A part of an id is enough, if no other
job's has it.`,
		Args: ui.Arguments("JOB", "..."),
		RunE: func(c *cobra.Command, texts []string) error {
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				queue := jobqueue.NewQueue(db.Jobs())
				jids, err := findAll(texts, func(text string) (string, error) { return findJob(c.Context(), queue, text) })
				if err != nil {
					return err
				}
				return Each(env, jids, func(jid string) (string, error) {
					state, err := queue.Cancel(c.Context(), jid)
					if state == jobqueue.Cancelled {
						return "cancelled " + ui.Cell(jid), err
					}
					return fmt.Sprintf("asked to end, as it is %s: %s", state, ui.Cell(jid)), err
				})
			})
		},
	}
}

func retryJobs(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "retry JOB...",
		Short: "Run jobs that have ended again",
		Long: `Run jobs that have ended again. A part of an id is enough, if no other job's has it.

A job of River, Graphile Worker or pg-boss that failed or was cancelled is put back into
its queue: give the id that "nextrun tick list" shows, whole.`,
		Args: ui.Arguments("JOB", "..."),
		RunE: func(c *cobra.Command, texts []string) error {
			return env.Submitting(c.Context(), func(db *store.DB, tasks *periodic.Tasks, n *notify.Notifier) error {
				defer n.Submitted(periodic.SinkJob) // also what was done before an error
				own := jobqueue.NewQueue(db.Jobs())
				jids, err := findAll(texts, func(text string) (string, error) { return findSubmitted(c.Context(), own, tasks, text) })
				if err != nil {
					return err
				}
				return Each(env, jids, func(jid string) (string, error) {
					err := own.Retry(c.Context(), jid)
					if errors.Is(err, store.ErrNotFound) {
						err = tasks.Retry(c.Context(), jid)
					}
					return "waiting again: " + ui.Cell(jid), err
				})
			})
		},
	}
}

// findSubmitted finds the id of a job in nextrun's own queue, or as it is in the record of a tick.
func findSubmitted(ctx context.Context, own *jobqueue.Queue, tasks *periodic.Tasks, text string) (string, error) {
	jid, err := findJob(ctx, own, text)
	if text == "" || !errors.Is(err, store.ErrNotFound) {
		return jid, err
	}
	ticks, tickErr := tasks.Ticks(ctx, periodic.TickFilter{JID: text, Limit: 1})
	if tickErr != nil || len(ticks) > 0 {
		return text, tickErr
	}
	return "", err
}

func pruneJobs(env *ui.Env) *cobra.Command {
	states, ended := statesFlag(), ui.TimeFlag{Past: true}
	command := &cobra.Command{
		Use:     "prune --older-than AGE",
		Short:   "Delete jobs that have ended, with their logs",
		Example: "  nextrun job prune --older-than 30d --state success,cancelled",
		Args:    ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case ended.Value.IsZero():
				return ui.Usagef("give an age: --older-than 30d, or --older-than 0 for all that have ended")
			case ended.Value.After(env.Now()):
				return ui.Usagef("--older-than %s is in the future; use a time that has passed", &ended)
			}
			filter := jobqueue.PruneFilter{OlderThan: env.Now().Sub(ended.Value)}
			if states.Value != nil {
				filter.States = *states.Value
			}
			for _, s := range filter.States {
				if !s.Final() {
					return ui.Usagef("jobs that are %s have not ended; use --state success, failed or cancelled", s)
				}
			}
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				n, err := jobqueue.NewQueue(db.Jobs()).Prune(c.Context(), filter)
				return errors.Join(env.Printf("deleted jobs: %d\n", n), err)
			})
		},
	}
	command.Flags().Var(&ended, "older-than", "only jobs that ended longer ago than this, such as 30d")
	command.Flags().Var(&states, "state", "only those in this state; commas separate several")
	return command
}
