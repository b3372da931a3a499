package event

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun event` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "event",
		Short: "Show events and publish them again",
	}, listCommand(env), resendCommand(env))
}

// withOutbox runs fn with the outbox of the database.
func withOutbox(ctx context.Context, env *ui.Env, fn func(*store.DB, outbox.Admin) error) error {
	return env.WithDatabase(ctx, func(db *store.DB) error {
		err := fn(db, db.Outbox())
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("%w; see: nextrun event list", err)
		}
		return err
	})
}

// eventJSON is the JSON form of an event: the columns of it and of its message, null
// where they are NULL.
func eventJSON(r *outbox.Record) ui.Object {
	return ui.Object{
		{"id", r.ID}, {"topic", r.Topic}, {"type", r.Type}, {"aggregate_id", r.AggregateID}, {"aggregate_version", r.AggregateVersion},
		{"payload", r.Payload}, {"due", ui.OrNull(r.Due)}, {"created", r.Created},
		{"status", ui.OrNull(r.Status)}, {"published", ui.OrNull(r.Published)}, {"attempts", r.Attempts}, {"refusals", r.Refusals},
		{"problem", ui.OrNull(r.Problem)}, {"retry", ui.OrNull(r.Retry)}, {"dead", ui.OrNull(r.Dead)},
	}
}
