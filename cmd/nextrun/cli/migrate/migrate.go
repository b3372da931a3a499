package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun migrate` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "migrate",
		Short: "Create, upgrade or remove nextrun's tables",
	}, upCommand(env), downCommand(env), statusCommand(env))
}

func upCommand(env *ui.Env) *cobra.Command {
	with, without := ui.Choice{Allowed: []string{"job"}}, ui.Choice{Allowed: []string{"job"}}
	command := &cobra.Command{
		Use:   "up",
		Short: "Create the tables, or bring them up to date",
		Long: `Create the tables, or bring them up to date. Existing tables are only extended; if
one of them belongs to something else, nothing is changed. What somebody dropped
or changed since, such as an index, is restored. A missing SQLite file, or the
schema that --schema names, is created. Several processes may run this at the
same time.

With --without job a new database gets no tables of jobs (job, joblog,
jobgroupuse, job_pause, job_limit): for those who only feed other queues or emit events.
Tables of these names that belong to something else are left alone. The choice
holds until migrate up --with job adds the tables.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if with.Value != "" && without.Value != "" {
				return ui.Usagef("use one of --with and --without")
			}
			return env.WithAnyDatabase(c.Context(), store.Options{Create: true}, func(db *store.DB) error {
				up := migrations.Of(db).Up
				switch {
				case with.Value != "":
					up = migrations.Of(db).AddJobs
				case without.Value != "":
					up = migrations.Of(db).UpWithoutJobs
				}
				done, err := up(c.Context())
				if err := printMigrations(env, "applied", done, err); err != nil {
					return err
				}
				return warnOfCreators(c.Context(), env, migrations.Of(db))
			})
		},
	}
	command.Flags().Var(&with, "with", "add the tables of jobs, which --without has left out")
	command.Flags().Var(&without, "without", "leave out the tables of jobs, in a new database")
	return command
}

func warnOfCreators(ctx context.Context, env *ui.Env, m *migrations.Migrator) error {
	creators, err := m.Creators(ctx)
	if err != nil || creators == "" {
		return err
	}
	return env.Printf("warning: %s\n", creators)
}

func downCommand(env *ui.Env) *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "down",
		Short: "Remove everything that nextrun created, including its rows",
		Long: `Remove everything that nextrun created, including its rows. Tables that existed
before stay, without the columns that nextrun added.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithAnyDatabase(c.Context(), store.Options{}, func(db *store.DB) error {
				if !yes {
					text, err := removes(c.Context(), migrations.Of(db))
					if err != nil {
						return err
					}
					return ui.Usagef("this removes from %s %s; if that is what you want, add --yes", db.URL(), text)
				}
				done, err := migrations.Of(db).Down(c.Context())
				return printMigrations(env, "removed", done, err)
			})
		},
	}
	command.Flags().BoolVar(&yes, "yes", false, "confirm")
	return command
}

// removes says what `migrate down` removes, and what it keeps.
func removes(ctx context.Context, m *migrations.Migrator) (string, error) {
	kept, err := m.Keeps(ctx)
	if err != nil || len(kept) == 0 {
		return "nextrun's tables with all tasks, jobs, ticks and events in them", err
	}
	return fmt.Sprintf("what nextrun added: its own tables with all rows in them, and its columns, indexes and triggers in other tables. "+
		"It keeps the tables that were there before (%s) and their rows, also those that nextrun inserted", strings.Join(kept, ", ")), nil
}

func statusCommand(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "status",
		Short: "Show which migrations the database has, and what differs from them",
		Long: `Show which migrations the database has. Then compare its tables, columns,
constraints, indexes, triggers, functions and views with what the migrations
make, and name each difference with the remedy; the exit code is 3 if there is any.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithAnyDatabase(c.Context(), store.Options{}, func(db *store.DB) error {
				list, err := migrations.Of(db).Status(c.Context())
				if err != nil {
					return err
				}
				if err := printStatus(env, list, asJSON); err != nil {
					return err
				}
				if err := sayWithoutJobs(c.Context(), env, migrations.Of(db), asJSON); err != nil {
					return err
				}
				return drift(c.Context(), env, migrations.Of(db), asJSON)
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}

// printMigrations prints what was done, also before an error ended it.
func printMigrations(env *ui.Env, verb string, done []migrations.Applied, err error) error {
	if len(done) == 0 && err == nil {
		return env.Printf("nothing to do\n")
	}
	for _, m := range done {
		if m.Restored {
			verb = "restored"
		}
		if perr := env.Printf("%s %s\n", verb, m.Name); perr != nil {
			return errors.Join(perr, err)
		}
	}
	return err
}

// sayWithoutJobs tells people if the tables of jobs were left out.
func sayWithoutJobs(ctx context.Context, env *ui.Env, m *migrations.Migrator, asJSON bool) error {
	has, err := m.HasJobs(ctx)
	if err != nil || has || asJSON {
		return err
	}
	return env.Printf("without the tables of jobs; to add them run: nextrun migrate up --with job\n")
}

// drift names what is not as the migrations make it. For programs that read JSON
// it is the error alone.
func drift(ctx context.Context, env *ui.Env, m *migrations.Migrator, asJSON bool) error {
	list, err := m.Drift(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	if asJSON {
		return ui.Foundf("%v", &migrations.DriftError{Differences: list})
	}
	for _, d := range list {
		if err := env.Printf("%s\n", d); err != nil {
			return err
		}
	}
	return ui.Foundf("%v; differences: %d", migrations.ErrDrift, len(list))
}

func printStatus(env *ui.Env, list []migrations.Status, asJSON bool) error {
	return ui.PrintList(env, &ui.ListFlags{JSON: asJSON}, ui.NewTable("VERSION", "MIGRATION", "APPLIED"), list, func(s *migrations.Status) (any, []any) {
		return ui.Object{{"version", s.Version}, {"name", s.Name}, {"applied", s.Done}}, []any{s.Version, s.Name, ui.YesNo(s.Done)}
	})
}
