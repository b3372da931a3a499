package migrate

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

func partitionCommand(env *ui.Env) *cobra.Command {
	by := ui.Choice{Value: string(migrations.Week), Allowed: []string{string(migrations.Day), string(migrations.Week), string(migrations.Month)}}
	command := &cobra.Command{
		Use:   "partition",
		Short: "Divide periodic_tick into partitions by time (PostgreSQL)",
		Long: `Divide the table periodic_tick into partitions by due, so that old ticks are
deleted by dropping a table, not row by row. Rows stay, and so does what is on the
table: views, triggers, indexes, foreign keys, rights, row level security and
comments. Schedulers wait until it is done, and then catch up. If something is in
the way, nothing is changed.

The task nextrun-housekeeping makes the partitions of the weeks to come and drops
old ones, if its role owns the table. Where it does not, run this command from time
to time: it makes missing partitions of a table that is divided already. Ticks for
which there is no partition go to the default partition, so none is refused.

migrate unpartition makes it one table again.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithAnyDatabase(c.Context(), store.Options{}, func(db *store.DB) error {
				done, err := db.Migrator().Partition(c.Context(), migrations.Width(by.Value))
				return printMigrations(env, "added", done, err)
			})
		},
	}
	command.Flags().Var(&by, "by", "time that a partition spans; weeks begin on Monday, times are UTC")
	return command
}

func unpartitionCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "unpartition",
		Short: "Make periodic_tick one table again (PostgreSQL)",
		Long: `Make periodic_tick one table again, with all its rows and what is on it. Schedulers
wait until it is done, and then catch up.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithAnyDatabase(c.Context(), store.Options{}, func(db *store.DB) error {
				done, err := db.Migrator().Unpartition(c.Context())
				return printMigrations(env, "removed", done, err)
			})
		},
	}
}

// sayPartitions tells people if periodic_tick has partitions.
func sayPartitions(ctx context.Context, env *ui.Env, m *migrations.Migrator, asJSON bool) error {
	state, err := m.Partitions(ctx)
	if err != nil || !state.Partitioned || asJSON {
		return err
	}
	return env.Printf("periodic_tick has partitions of a %s: %d, and the default one; to make it one table run: nextrun migrate unpartition\n",
		state.Width, state.Partitions)
}
