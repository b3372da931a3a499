package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

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

// setHelp makes help texts that fit a terminal. Only that of the program itself
// explains the flags of all commands.
func setHelp(env *ui.Env, root *cobra.Command) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		about := c.Long
		if about == "" {
			about = c.Short
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\n\n%s", strings.TrimSpace(about), usageOf(c, env.Width()))
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := fmt.Fprint(c.OutOrStderr(), usageOf(c, env.Width()))
		return err
	})
}

// usageOf is the help text of a command without what it is about; 0: as wide as it
// is.
func usageOf(c *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", c.CommandPath())
	} else {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, one := range c.Commands() {
			if one.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-*s  %s\n", c.NamePadding(), one.Name(), one.Short)
			}
		}
	}
	if flags := c.LocalFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", flags.FlagUsagesWrapped(width))
	}
	if inherited := c.InheritedFlags(); inherited.HasAvailableFlags() {
		var names []string
		inherited.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		all := "Flags of all commands: " + strings.Join(names, ", ") + "; see: " + c.Root().Name() + " --help"
		fmt.Fprintf(&b, "\n%s\n", wrap(all, width))
	} else if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nSee: %s COMMAND --help\n", c.CommandPath())
	}
	return b.String()
}

// wrap breaks a line between words where it is wider than a terminal.
func wrap(line string, width int) string {
	if width == 0 {
		return line
	}
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(line) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// defaults are what help texts say of the defaults of flags.
var defaults = regexp.MustCompile(` \(default [^)]*\)`)

// forgetDefaults removes defaults from the help text of a command that changes
// something: there, a flag that is not given changes nothing.
func forgetDefaults(command *cobra.Command) {
	command.Flags().VisitAll(func(f *pflag.Flag) {
		f.Usage = defaults.ReplaceAllString(f.Usage, "")
		if f.Value.Type() == "string" {
			f.DefValue = ""
		}
	})
}
