package queue

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/store/queues"
)

func triggerCommand(env *ui.Env) *cobra.Command {
	var drop bool
	command := &cobra.Command{
		Use:   "trigger NAME",
		Short: "Print the SQL of a trigger that ends waits at once",
		Long: `Print the SQL of a trigger on the queue's own table, for you to run. A tick that
waits for a job of the queue (overlap queue or replace) is then submitted as soon as
that job ends. Without the trigger nextrun looks for the end itself, every 1 to 30
seconds. This command changes nothing.`,
		Example: `  nextrun queue trigger river --config nextrun.yaml | psql "$NEXTRUN_DB"
  nextrun queue trigger river --drop --config nextrun.yaml | psql "$NEXTRUN_DB"`,
		Args: ui.Arguments("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return withQueue(c.Context(), env, args[0], func(q foreign.Queue) error {
				trigger, err := q.EndTrigger(c.Context(), args[0])
				if errors.Is(err, queues.ErrNoTrigger) {
					return fmt.Errorf("queue %q: %w; run DELETE FROM periodic_open WHERE sink = '%s' AND ref = ... where a job ends",
						args[0], err, args[0])
				}
				if err != nil {
					return fmt.Errorf("queue %q: %w", args[0], err)
				}
				if drop {
					return env.Printf("%s", trigger.Drop)
				}
				return env.Printf("%s", trigger.Create)
			})
		},
	}
	command.Flags().BoolVar(&drop, "drop", false, "print the SQL that removes the trigger")
	return command
}
