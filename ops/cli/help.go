package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/ops/cli/ui"
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
	writeCommands(&b, c, "", "Commands")
	for _, g := range c.Groups() {
		writeCommands(&b, c, g.ID, g.Title)
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", flagsOf(c).FlagUsagesWrapped(width))
	}
	switch {
	case c.HasAvailableInheritedFlags():
		fmt.Fprintf(&b, "\nFlags of all commands, such as --db and --config: %s --help\n", c.Root().Name())
	case c.HasAvailableSubCommands():
		fmt.Fprintf(&b, "\nSee: %s COMMAND --help\n", c.CommandPath())
	}
	return b.String()
}

// writeCommands lists the commands of a group under its title, if it has any.
func writeCommands(b *strings.Builder, c *cobra.Command, group, title string) {
	for _, one := range c.Commands() {
		if !one.IsAvailableCommand() || one.GroupID != group {
			continue
		}
		if title != "" {
			fmt.Fprintf(b, "\n%s:\n", title)
			title = ""
		}
		fmt.Fprintf(b, "  %-*s  %s\n", c.NamePadding(), one.Name(), one.Short)
	}
}

// flagsOf are the flags of a command as its help text has them.
func flagsOf(c *cobra.Command) *pflag.FlagSet {
	shown := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		one := *f
		if f.Value.Type() == "bool" {
			one.Value = truth{f.Value}
		}
		shown.AddFlag(&one)
	})
	return shown
}

// truth is a flag that stands alone, without the [=true|false] that the library writes after those of
// type bool.
type truth struct{ pflag.Value }

// Type is a kind of flag without a value.
func (truth) Type() string { return "boolfunc" }

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
