package queue

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/foreign"
)

func checkCommand(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "check NAME",
		Short: "Check that nextrun can feed a queue",
		Long: `Check the version and the tables of a queue, and this login's rights on them. Show
the rights that a scheduler needs. Exit code 3: nextrun cannot feed it.`,
		Example: `  nextrun queue check river --config nextrun.yaml`,
		Args:    ui.Arguments("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return withQueue(c.Context(), env, args[0], func(q foreign.Queue) error {
				report, err := q.Inspect(c.Context())
				if err != nil {
					return fmt.Errorf("queue %q: %w", args[0], err)
				}
				found := newQueueJSON(args[0], report)
				if asJSON {
					err = env.PrintJSON(found)
				} else {
					err = printQueue(env, found)
				}
				if err != nil {
					return err
				}
				return found.err()
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}

func printQueue(env *ui.Env, q queueJSON) error {
	version := q.Version
	if version == "" {
		version = "none found"
	}
	fields := [][2]string{{"name", q.Name}, {"type", q.Type}, {"version", version}}
	for _, p := range q.Problems {
		fields = append(fields, [2]string{p.Level, problemJSON{"", p.Text, p.Remedy}.String()})
	}
	if err := env.PrintFields(fields); err != nil || len(q.Grants) == 0 {
		return err
	}
	if err := env.Printf("\nThe rights that this login needs (for another login, replace its name):\n"); err != nil {
		return err
	}
	for _, grant := range q.Grants {
		if err := env.Printf("  %s\n", grant); err != nil {
			return err
		}
	}
	return nil
}

// err is an error if the queue cannot be fed.
func (q queueJSON) err() error {
	errors := 0
	for _, p := range q.Problems {
		if p.Level == "error" {
			errors++
		}
	}
	if errors == 0 {
		return nil
	}
	return ui.Foundf("errors: %d", errors)
}
