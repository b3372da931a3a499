package cli

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/check"
	"github.com/nextrun/nextrun/ops/cli/imports"
	"github.com/nextrun/nextrun/ops/cli/migrate"
	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/service"
	"github.com/nextrun/nextrun/ops/cli/task"
	"github.com/nextrun/nextrun/ops/cli/timer"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func rootCommand(env *ui.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "nextrun",
		Short: "Turns rows of a table into jobs, on time",
		Long: `nextrun submits a job each time the timer of a row in periodic_task elapses, and
runs the jobs. PostgreSQL or SQLite holds both; plain SQL manages them.`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	env.Version, env.Revision = version, commit
	env.Flags.LogFormat = ui.Choice{Value: "text", Allowed: []string{"text", "json"}}
	env.Flags.LogLevel = ui.Choice{Value: "info", Allowed: []string{"debug", "info", "warning", "error"}}
	flags := root.PersistentFlags()
	flags.StringVar(&env.Flags.DB, "db", "",
		"`database`: sqlite:PATH or postgres://... (NEXTRUN_DB; default sqlite:nextrun.db)")
	flags.StringVar(&env.Flags.DBFile, "db-file", "", "`file` that holds the URL of the database, instead of --db (NEXTRUN_DB_FILE)")
	flags.StringVar(&env.Flags.Schema, "schema", "",
		"`schema` of PostgreSQL that holds the tables, made by migrate up (NEXTRUN_SCHEMA; default as search_path)")
	flags.StringVar(&env.Flags.Config, "config", "", "configuration `file` (NEXTRUN_CONFIG)")
	flags.Func("zone", "time `zone` of the times that you read and write (default the machine's)", func(name string) error { return setZone(env, name) })
	flags.BoolVar(&env.Flags.Wide, "wide", false, "write tables whole, even if they are wider than the terminal")
	flags.Var(&env.Flags.LogFormat, "log-format", "format of the log on standard error")
	flags.Var(&env.Flags.LogLevel, "log-level", "lowest level that is logged")
	addGroups(env, root)
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	root.SetUsageTemplate(usage)
	addCompletion(env, root)
	return root
}

// addGroups adds the commands, by what people want to do.
func addGroups(env *ui.Env, root *cobra.Command) {
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Run", service.Commands(env)},
		{"Look", []*cobra.Command{
			check.StatusCommand(env), task.ShowCommand(env, "why"), timer.PreviewCommand(env), timer.NextCommand(env), rows.TickCommand(env), service.HealthCommand(env),
		}},
		{"Change", []*cobra.Command{task.Command(env), rows.JobCommand(env), rows.EventCommand(env), imports.Command(env)}},
		{"Operate", []*cobra.Command{migrate.Command(env), check.Command(env), rows.LockCommand(env), versionCommand(env)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, one := range g.commands {
			one.GroupID = g.title
		}
		root.AddCommand(g.commands...)
	}
	root.SetCompletionCommandGroupID("Operate")
	root.SetHelpCommandGroupID("Operate")
	unknown := ui.Group(root).RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return unknown(c, args)
	}
}
