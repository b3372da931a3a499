package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is wrong usage that is found after a command has begun.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// arguments checks that a command gets exactly the named arguments.
func arguments(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("missing argument %s", strings.Join(names[len(args):], " "))
		}
		if len(args) > len(names) {
			return usagef("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// severalArguments checks that a command gets one or more arguments.
func severalArguments(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("missing argument %s", name)
		}
		return nil
	}
}

// group makes a command that only has commands below it.
func group(command *cobra.Command, members ...*cobra.Command) *cobra.Command {
	command.AddCommand(members...)
	command.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("missing command: one of %s", strings.Join(names(c), ", "))
		}
		text := fmt.Sprintf("unknown command %q", args[0])
		c.SuggestionsMinimumDistance = 2
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return usagef("%s; did you mean %s?", text, strings.Join(near, " or "))
		}
		return usagef("%s: use one of %s", text, strings.Join(names(c), ", "))
	}
	command.Args = cobra.ArbitraryArgs
	return command
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

// choice is a flag that has one of a few values.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.allowed, "|") }

// Set takes a value if it is allowed.
func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("use one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// saidOnce is the text of an error without the words that the command's path has
// said already: the packages begin with what was attempted, as in "cancel job
// X: ..." or "list tasks: ...".
func saidOnce(command *cobra.Command, text string) string {
	rest, ok := strings.CutPrefix(text, command.Name()+" ")
	if !ok || !command.HasParent() {
		return text
	}
	noun := command.Parent().Name()
	if reason, ok := strings.CutPrefix(rest, noun+"s: "); ok {
		return reason
	}
	if strings.HasPrefix(rest, noun+" ") {
		return rest
	}
	return text
}

// parsingNumber is what a flag says of a text that is no number.
var parsingNumber = regexp.MustCompile(`strconv\.Parse\w+: parsing .*$`)

// plainly is an error without the words of Go.
func plainly(err error) string {
	return parsingNumber.ReplaceAllString(err.Error(), "use a whole number")
}
