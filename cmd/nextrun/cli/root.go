package cli

import (
	"github.com/spf13/cobra"
)

// globalFlags are the flags that all commands know.
type globalFlags struct {
	db        string
	config    string
	logFormat choice
	logLevel  choice
}

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "nextrun",
		Short: "Turns rows of a table into jobs, on time",
		Long: `nextrun submits a job each time the timer of a row in periodic_task elapses, and
runs the jobs. PostgreSQL or SQLite holds both; plain SQL manages them.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	p.flags.logFormat = choice{"text", []string{"text", "json"}}
	p.flags.logLevel = choice{"info", []string{"debug", "info", "warning", "error"}}
	flags := root.PersistentFlags()
	flags.StringVar(&p.flags.db, "db", "",
		"`database`: sqlite:PATH or postgres://... (NEXTRUN_DB; default sqlite:nextrun.db)")
	flags.StringVar(&p.flags.config, "config", "", "configuration `file` (NEXTRUN_CONFIG)")
	flags.Var(&p.flags.logFormat, "log-format", "how log lines are written to standard error")
	flags.Var(&p.flags.logLevel, "log-level", "least severe log lines that are written")
	group(root,
		p.serveCommand(), p.schedulerCommand(), p.executorCommand(), p.relayCommand(),
		p.migrateCommand(), p.checkCommand(), p.healthCommand(),
		p.taskCommand(), p.tickCommand(), p.jobCommand(), p.eventCommand(), p.lockCommand(),
		p.nextCommand(), p.previewCommand(), p.versionCommand(),
	)
	root.SetHelpCommand(helpCommand())
	p.markBegin(root)
	return root
}

// helpCommand is cobra's, but for an unknown command being wrong usage.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Help about a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("there is no command %q", args)
			}
			return about.Help()
		},
	}
}
