package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

func (p *program) migrateCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "migrate",
		Short: "Create, upgrade or remove nextrun's tables",
	}, p.migrateUpCommand(), p.migrateDownCommand(), p.migrateStatusCommand())
}

func (p *program) migrateUpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Create the tables, or bring them up to date",
		Long: `Create the tables, or bring them up to date. Tables that are there already are
only added to; if one of them is something else, nothing is changed. A SQLite
file that does not exist is created. Several processes may do so at once.`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withAnyDatabase(c.Context(), store.Options{Create: true}, func(db *store.DB) error {
				done, err := db.Migrator().Up(c.Context())
				return errors.Join(p.printMigrations("applied", done), err)
			})
		},
	}
}

func (p *program) migrateDownCommand() *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "down",
		Short: "Remove all that nextrun has created, with its rows",
		Long: `Remove all that nextrun has created, with its rows. Tables that were there before
it stay, without the columns that it added.`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withAnyDatabase(c.Context(), store.Options{}, func(db *store.DB) error {
				if !yes {
					return usagef("this removes nextrun's tables in %s with all tasks and jobs in them; "+
						"if that is what you want, add --yes", db.URL())
				}
				done, err := db.Migrator().Down(c.Context())
				return errors.Join(p.printMigrations("removed", done), err)
			})
		},
	}
	command.Flags().BoolVar(&yes, "yes", false, "confirm")
	return command
}

func (p *program) migrateStatusCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "status",
		Short: "Show which migrations the database has",
		Args:  arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withAnyDatabase(c.Context(), store.Options{}, func(db *store.DB) error {
				list, err := db.Migrator().Status(c.Context())
				if err != nil {
					return err
				}
				return p.printStatus(list, asJSON)
			})
		},
	}
	jsonFlag(command, &asJSON)
	return command
}

func (p *program) printMigrations(verb string, done []migrations.Applied) error {
	if len(done) == 0 {
		return p.printf("nothing to do\n")
	}
	for _, m := range done {
		if err := p.printf("%s %s\n", verb, m.Name); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) printStatus(list []migrations.Status, asJSON bool) error {
	type line struct {
		Version int64  `json:"version"`
		Name    string `json:"name"`
		Applied bool   `json:"applied"`
	}
	var lines []line
	t := newTable("VERSION", "MIGRATION", "APPLIED")
	for _, s := range list {
		lines = append(lines, line{s.Version, s.Name, s.Done})
		t.add(s.Version, s.Name, yesNo(s.Done))
	}
	return p.print(t, lines, asJSON)
}
