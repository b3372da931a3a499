package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// usage is the help text of a command below what it is about. Only that of the program itself explains the flags of all
// commands.
const usage = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}
{{- with .Example}}

Examples:
{{.}}{{end}}
{{- range $group := .Groups}}

{{$group.Title}}:{{range $.Commands}}{{if and .IsAvailableCommand (eq .GroupID $group.ID)}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}
{{- else}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}{{end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{flagsOf . | trimTrailingWhitespaces}}{{end}}
{{- if .HasAvailableInheritedFlags}}

Flags of all commands, such as --db and --config: {{.Root.Name}} --help
{{- else if .HasAvailableSubCommands}}

See: {{.CommandPath}} COMMAND --help
{{- end}}
`

// usageWidth is how many columns of a terminal help texts take.
const usageWidth = 80

func init() { cobra.AddTemplateFunc("flagsOf", flagsOf) }

// flagsOf are the flags of a command as its help text has them.
func flagsOf(c *cobra.Command) string {
	shown := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		one := *f
		if f.Value.Type() == "bool" {
			one.Value = truth{f.Value}
		}
		shown.AddFlag(&one)
	})
	return shown.FlagUsagesWrapped(usageWidth)
}

// truth is a flag that stands alone, without the [=true|false] that the library writes after those of
// type bool.
type truth struct{ pflag.Value }

// Type is a kind of flag without a value.
func (truth) Type() string { return "boolfunc" }

// helpCommand is cobra's, but for an unknown command being wrong usage.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Help about a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return ui.Usagef("there is no command %q", args)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
