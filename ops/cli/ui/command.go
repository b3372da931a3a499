package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Arguments checks that a command gets exactly the named arguments; "..." stands for any number of further ones.
func Arguments(names ...string) cobra.PositionalArgs {
	named := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "..." })
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(named) {
			return Usagef("missing argument %s", strings.Join(named[len(args):], " "))
		}
		if len(args) > len(named) && len(named) == len(names) {
			return Usagef("unexpected argument %q", args[len(named)])
		}
		return nil
	}
}

// Group makes a command that only has commands below it.
func Group(command *cobra.Command, members ...*cobra.Command) *cobra.Command {
	command.AddCommand(members...)
	command.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("missing command: one of %s", strings.Join(names(c), ", "))
		}
		if strings.ContainsAny(args[0], ":=@") { // an address, perhaps with a password
			return Usagef("the first argument is no command: use one of %s; a database is named by --db or NEXTRUN_DB", strings.Join(names(c), ", "))
		}
		text := fmt.Sprintf("unknown command %q", args[0])
		if elsewhere := called(args[0], c.Root()); len(elsewhere) > 0 {
			return Usagef("%s; did you mean %s?", text, strings.Join(elsewhere, " or "))
		}
		c.SuggestionsMinimumDistance = 2
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return Usagef("%s; did you mean %s?", text, strings.Join(near, " or "))
		}
		return Usagef("%s: use one of %s", text, strings.Join(names(c), ", "))
	}
	command.Args = cobra.ArbitraryArgs
	return command
}

// called are the paths of all commands below one that have a name.
func called(name string, command *cobra.Command) (paths []string) {
	for _, c := range command.Commands() {
		if c.Name() == name {
			paths = append(paths, c.CommandPath())
		}
		paths = append(paths, called(name, c)...)
	}
	return paths
}

func names(command *cobra.Command) []string {
	var list []string
	for _, c := range command.Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" {
			list = append(list, c.Name())
		}
	}
	return list
}
