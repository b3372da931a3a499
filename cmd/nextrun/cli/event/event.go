package event

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun event` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "event",
		Short: "Show events and publish them again",
	},
		listCommand(env), showCommand(env), tailCommand(env),
		resendCommand(env), lagCommand(env), strictCommand(env),
	)
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
type eventJSON struct {
	ID               string     `json:"id"`
	Topic            string     `json:"topic"`
	Type             string     `json:"type"`
	AggregateID      string     `json:"aggregate_id"`
	AggregateVersion int64      `json:"aggregate_version"`
	Payload          string     `json:"payload"`
	Due              *time.Time `json:"due"`
	Created          time.Time  `json:"created"`
	Position         *int64     `json:"position"`
	Status           *string    `json:"status"`
	Published        *time.Time `json:"published"`
	Attempts         int        `json:"attempts"`
	Refusals         int        `json:"refusals"`
	Problem          *string    `json:"problem"`
	Retry            *time.Time `json:"retry"`
	Dead             *time.Time `json:"dead"`
}

func newEventJSON(r *outbox.Record) eventJSON {
	j := eventJSON{
		ID: r.ID, Topic: r.Topic, Type: r.Type, AggregateID: r.AggregateID, AggregateVersion: r.AggregateVersion,
		Due: ui.TimeOrNull(r.Due), Created: r.Created, Payload: r.Payload, Status: ui.TextOrNull(string(r.Status)),
		Published: ui.TimeOrNull(r.Published), Attempts: r.Attempts, Refusals: r.Refusals, Problem: ui.TextOrNull(r.Problem),
		Retry: ui.TimeOrNull(r.Retry), Dead: ui.TimeOrNull(r.Dead),
	}
	if r.Position > 0 {
		j.Position = &r.Position
	}
	return j
}
