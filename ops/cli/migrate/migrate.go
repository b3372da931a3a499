// Package migrate holds the commands that make, upgrade and remove nextrun's tables.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun migrate` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "migrate",
		Short: "Create or remove nextrun's tables",
	}, upCommand(env), downCommand(env), statusCommand(env))
}

func upCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Create the tables, or update them",
		Long: `Create the tables, or update them. Existing tables are only extended; if one of them
belongs to something else, nothing is changed. A missing SQLite file, or the schema
that --schema names, is created. Several processes may run this at the same time.
Before an update it says who runs, and who could not be started again after it.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithAnyDatabase(c.Context(), store.Options{Create: true}, func(db *store.DB) error {
				if err := printRunning(c.Context(), env, db); err != nil {
					return err
				}
				done, err := migrations.Of(db).Up(c.Context())
				if err := printMigrations(env, db, "applied", done, err); err != nil {
					return err
				}
				missing, err := migrations.Of(db).Missing(c.Context())
				if err == nil && len(missing) > 0 { // Up applies migrations, and mends none
					err = env.Printf("warning: %v\n", &migrations.MissingError{Objects: missing})
				}
				if err != nil {
					return err
				}
				creators, err := migrations.Of(db).Creators(c.Context())
				if err != nil || creators == "" {
					return err
				}
				return env.Printf("warning: %s\n", creators)
			})
		},
	}
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
				if version, err := migrations.Of(db).Version(c.Context()); err != nil || version == 0 {
					return printMigrations(env, db, "removed", nil, err)
				}
				text, err := removes(c.Context(), migrations.Of(db))
				if err != nil {
					return err
				}
				who := running(c.Context(), db)
				if !yes {
					if who != "" {
						text += "; stop first what runs on it: " + who
					}
					return ui.Usagef("this removes from %s %s; if that is what you want, add --yes", db.URL(), text)
				}
				done, err := migrations.Of(db).Down(c.Context())
				if err := printMigrations(env, db, "removed", done, err); err != nil || len(done) == 0 {
					return err
				}
				if who != "" {
					text += "; stop what runs on it: " + who
				}
				return env.Printf("removed from %s %s\n", db.URL(), text)
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
		Short: "Show which migrations the database has, and what is missing",
		Long: `Show which migrations the database has, and which tables, columns, indexes,
triggers, functions and views are missing, each with the statement that makes it;
the exit code is 3 if there are any, or if a migration is not applied.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithAnyDatabase(c.Context(), store.Options{}, func(db *store.DB) error {
				list, err := migrations.Of(db).Status(c.Context())
				if err != nil {
					return err
				}
				applied := map[bool]string{true: "yes", false: "no"}
				t, objects := ui.NewTable("VERSION", "MIGRATION", "APPLIED"), make([]ui.Object, len(list))
				for i, s := range list {
					t.Add(s.Version, s.Name, applied[s.Done])
					objects[i] = ui.Object{{"version", s.Version}, {"name", s.Name}, {"applied", s.Done}}
				}
				if err := env.PrintTable(t, objects, asJSON); err != nil {
					return err
				}
				if pending := len(slices.DeleteFunc(list, func(s migrations.Status) bool { return s.Done })); pending > 0 {
					return ui.Foundf("migrations that are not applied: %d; run: nextrun migrate up", pending)
				}
				return printMissing(c.Context(), env, migrations.Of(db), asJSON)
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}

// printMigrations prints what was done, also before an error ended it.
func printMigrations(env *ui.Env, db *store.DB, verb string, done []migrations.Applied, err error) error {
	if len(done) == 0 && err == nil {
		return env.Printf("nothing to do\n")
	}
	for _, m := range done {
		err = errors.Join(err, env.Printf("%s %s: %s\n", verb, m.Name, db.URL()))
	}
	return err
}

// printMissing prints the statements that make what is missing. For programs that read JSON
// it is the error alone.
func printMissing(ctx context.Context, env *ui.Env, m *migrations.Migrator, asJSON bool) error {
	list, err := m.Missing(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	if asJSON {
		return ui.Foundf("%v", &migrations.MissingError{Objects: list})
	}
	for _, o := range list {
		if err := env.Printf("\n-- %s is missing:\n%s\n", o, o.Create); err != nil {
			return err
		}
	}
	return ui.Foundf("parts of the schema that are missing: %d; run these statements as the owner of the tables", len(list))
}

// printRunning says before an update of the tables who runs, and who could not be started again after it.
func printRunning(ctx context.Context, env *ui.Env, db *store.DB) error {
	m := migrations.Of(db)
	list, err := m.Status(ctx)
	if err != nil || !list[0].Done || list[len(list)-1].Done {
		return nil //nolint:nilerr // what is wrong, Up says
	}
	who := running(ctx, db)
	if who == "" {
		return nil
	}
	out, err := m.ShutsOut(ctx)
	if err != nil {
		return err
	}
	return env.Printf("running: %s\n%s", who, warning(out))
}

// running names the services that live on a database, with the versions of their programs; empty: none, or it cannot be
// read.
func running(ctx context.Context, db *store.DB) string {
	services, err := view.Of(db).Services(ctx)
	if err != nil {
		return ""
	}
	var list []string
	for _, s := range services {
		if s.Lives {
			list = append(list, fmt.Sprintf("%s %s (%s)", s.Kind, s.Worker, s.Version))
		}
	}
	return strings.Join(list, ", ")
}

// warning says who could not be started again.
func warning(out migrations.ShutsOut) string {
	switch {
	case out.Below == 0:
		return ""
	case out.All():
		return "warning: none of them can be started again after this update: update their programs\n"
	}
	return fmt.Sprintf("warning: those whose programs know less than migration %d cannot be started again after this update: update them\n", out.Below)
}
