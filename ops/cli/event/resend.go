package event

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/cli/find"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/store"
)

func resendCommand(env *ui.Env) *cobra.Command {
	var dead string
	command := &cobra.Command{
		Use:   "resend EVENT... | --dead TOPIC",
		Short: "Publish events again",
		Long: `Publish events again under the same ids, both published and dead ones. Receivers
get them out of order: after events that were published in the meantime. A
part of an id is enough, if no other event's has it.`,
		Args: func(_ *cobra.Command, args []string) error {
			if (dead == "") == (len(args) == 0) {
				return ui.Usagef("name either events or --dead TOPIC")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return withOutbox(c.Context(), env, func(_ *store.DB, admin outbox.Admin) error {
				var found []string
				var err error
				if dead != "" {
					found, err = admin.ResendDead(c.Context(), dead)
				} else if err = findAll(c.Context(), admin, args); err == nil {
					found, err = admin.Resend(c.Context(), args)
				}
				if err != nil {
					return err
				}
				if err := env.Printf("to be published again: %d\n", len(found)); err != nil {
					return err
				}
				missing := slices.DeleteFunc(args, func(id string) bool { return slices.Contains(found, id) })
				if len(missing) > 0 {
					return fmt.Errorf("event %s: %w", strings.Join(missing, ", "), store.ErrNotFound)
				}
				return nil
			})
		},
	}
	command.Flags().StringVar(&dead, "dead", "", "all dead events of this `topic`")
	return command
}

// findAll puts the ids of events in the place of their beginnings. What is not found
// stays: the others are published all the same.
func findAll(ctx context.Context, admin outbox.Admin, args []string) error {
	for i, text := range args {
		id, err := find.Event(ctx, admin, text)
		switch {
		case err == nil:
			args[i] = id
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
	}
	return nil
}
