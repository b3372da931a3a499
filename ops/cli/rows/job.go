package rows

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/store"
)

// JobCommand returns `nextrun job` with its commands.
func JobCommand(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{Use: "job", Short: "Show and change jobs"},
		listJobs(env), showJob(env), logOfJob(env), submitJob(env), cancelJobs(env), retryJobs(env), pruneJobs(env), limitJobs(env))
}

// ofJob makes a command about the job that its argument means: an id or a part of one, or with
// --last the id of a task, whose newest job it is.
func ofJob(env *ui.Env, command *cobra.Command, fn func(context.Context, *store.DB, *jobqueue.Job) error) *cobra.Command {
	var last bool
	command.Use += " JOB | --last ID"
	command.Args = ui.Arguments("JOB")
	command.RunE = func(c *cobra.Command, args []string) error {
		return env.WithDatabase(c.Context(), func(db *store.DB) error {
			queue := jobqueue.NewQueue(db.Jobs())
			find := func() (string, error) { return findJob(c.Context(), queue, args[0]) }
			if last {
				find = func() (string, error) { return lastJob(c.Context(), db, args[0]) }
			}
			jid, err := find()
			if err != nil {
				return err
			}
			job, err := queue.Get(c.Context(), jid)
			if err != nil {
				return err
			}
			return fn(c.Context(), db, &job)
		})
	}
	command.Flags().BoolVar(&last, "last", false, "the argument is the id of a task: show its newest job")
	return command
}

// statesFlag is a flag that holds states of jobs, separated by commas.
func statesFlag() ui.Flag[[]jobqueue.State] {
	return ui.Flag[[]jobqueue.State]{Kind: "state", Proposed: words(jobqueue.States()), Parse: func(text string) (list []jobqueue.State, _ error) {
		for name := range strings.SplitSeq(text, ",") {
			state := jobqueue.StateOf(name)
			if !state.Valid() {
				return nil, errors.New("one of " + strings.Join(words(jobqueue.States()), ", "))
			}
			list = append(list, state)
		}
		return list, nil
	}}
}

// words are the words for states of jobs.
func words(states []jobqueue.State) []string {
	list := make([]string, len(states))
	for i, s := range states {
		list[i] = s.Word()
	}
	return list
}
