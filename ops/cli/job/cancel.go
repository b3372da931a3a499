package job

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func cancelCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel JOB...",
		Short: "Cancel jobs; a running job is asked to end",
		Long: `Cancel jobs; a running job is asked to end. A part of an id is enough, if no other
job's has it.`,
		Args: ui.SeveralArguments("JOB"),
		RunE: func(c *cobra.Command, texts []string) error {
			return withQueue(c.Context(), env, func(queue *jobqueue.Queue) error {
				return eachJob(env, texts, func(text string) (string, error) {
					return find.Job(c.Context(), queue, text)
				}, func(jid string) (string, error) {
					state, err := queue.Cancel(c.Context(), jid)
					if state == jobqueue.Cancelled {
						return "cancelled", err
					}
					return fmt.Sprintf("asked to end, as it is %s:", state), err
				})
			})
		},
	}
}

// eachJob finds the jobs that texts mean, and does something to each. Do returns what it did.
func eachJob(env *ui.Env, texts []string, find, do func(string) (string, error)) error {
	jids := make([]string, len(texts))
	for i, text := range texts { // all of them before any is changed
		var err error
		if jids[i], err = find(text); err != nil {
			return err
		}
	}
	for _, jid := range jids {
		done, err := do(jid)
		if err != nil {
			return err
		}
		if err := env.Printf("%s %s\n", done, ui.Cell(jid)); err != nil {
			return err
		}
	}
	return nil
}
