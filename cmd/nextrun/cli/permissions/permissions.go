package permissions

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/permissions"
	"github.com/nextrun/nextrun/store/queues"
)

// Command returns the command permissions with the commands below it.
func Command(env *ui.Env) *cobra.Command {
	var prefix string
	command := &cobra.Command{
		Use:   "permissions",
		Short: "Print the SQL that gives roles of PostgreSQL their rights",
		Long: `Print scripts for psql. They make roles for each program of nextrun, for people and
for tenants, each with the rights that it needs and no more. The commands connect to
no database; --schema names the one that has the tables.`,
		Example: `  nextrun permissions roles | psql DATABASE
  nextrun permissions roles --schema nextrun --prefix shop_ > roles.sql`,
	}
	command.PersistentFlags().StringVar(&prefix, "prefix", permissions.DefaultPrefix, "what the names of the roles `begin` with")
	names := func() permissions.Names {
		return permissions.Names{Schema: env.Setting(env.Flags.Schema, "NEXTRUN_SCHEMA", ""), Prefix: prefix}
	}
	ui.Group(command, ownerCommand(env, names), rolesCommand(env, names), tenantCommand(env, names))
	return command
}

func ownerCommand(env *ui.Env, names func() permissions.Names) *cobra.Command {
	return &cobra.Command{
		Use:     "owner",
		Short:   "Print the script for the role that owns the tables, to run before migrate up",
		Example: `  nextrun permissions owner | psql DATABASE`,
		Args:    ui.Arguments(),
		RunE: func(*cobra.Command, []string) error {
			return write(env, names().Owner)
		},
	}
}

func rolesCommand(env *ui.Env, names func() permissions.Names) *cobra.Command {
	return &cobra.Command{
		Use:   "roles",
		Short: "Print the script for the roles of programs and people, to run after migrate up",
		Long: `Print the script for the roles of programs and people. Run it after migrate up. With
--config it also gives rights on the tables of the queues in the configuration.`,
		Example: `  nextrun permissions roles | psql DATABASE
  nextrun permissions roles --config nextrun.yaml | psql DATABASE
  psql DATABASE -c 'GRANT nextrun_scheduler TO scheduling'`,
		Args: ui.Arguments(),
		RunE: func(*cobra.Command, []string) error {
			c, err := env.Configuration()
			if err != nil {
				return err
			}
			n := names()
			for _, sink := range slices.Sorted(maps.Keys(c.Queues)) {
				n.Queues = append(n.Queues, permissions.Queue{Name: string(sink), Grants: func(roles string) []string { return queues.Grants(c.Queues[sink], roles) }})
			}
			return write(env, n.Roles)
		},
	}
}

func tenantCommand(env *ui.Env, names func() permissions.Names) *cobra.Command {
	var tenant permissions.Tenant
	command := &cobra.Command{
		Use:   "tenant NAME",
		Short: "Print the script for a tenant, who manages only tasks with certain ids and handlers",
		Long: `Print the script for the role of a tenant: it adds and changes tasks whose ids begin
with its name, in its own group and for the handlers that you name, and sees what
became of them. The script turns on row security. Run it after that of the roles.`,
		Example: `  nextrun permissions tenant acme --handler report --handler invoice | psql DATABASE`,
		Args:    ui.Arguments("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			tenant.Name = args[0]
			return write(env, func() (string, error) { return names().Tenant(tenant) })
		},
	}
	flags := command.Flags()
	flags.StringVar(&tenant.IDs, "ids", "", "what the ids of its tasks `begin` with (default NAME-)")
	flags.StringVar(&tenant.Group, "group", "", "`group` of its tasks (default NAME)")
	flags.StringArrayVar(&tenant.Handlers, "handler", nil, "`handler` that its tasks may run; once for each")
	return command
}

// write writes a script. What is wrong with its names is a mistake in the command.
func write(env *ui.Env, script func() (string, error)) error {
	text, err := script()
	if err != nil {
		return ui.Usagef("%v", err)
	}
	return env.Printf("%s", text)
}
