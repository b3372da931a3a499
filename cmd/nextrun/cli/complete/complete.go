package complete

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

// source proposes values.
type source func(c *completer) []string

// ofArguments are the values of arguments, by command.
var ofArguments = map[string]source{
	"task show": tasks, "task set": tasks, "task enable": tasks, "task disable": tasks, "task pause": tasks, "task resume": tasks,
	"task run": tasks, "task backfill": tasks, "task rm": tasks, "why": tasks, "verify": tasks,
	"job show": jobsOrTasks, "job log": jobsOrTasks, "job cancel": jobs, "job retry": jobs, "job submit": handlers,
	"event resend": events,
	"queue check":  queues, "queue trigger": queues, "lock release": locks, "next": timers, "help": commands,
}

// ofFlags are the values of flags, by name.
var ofFlags = map[string]source{
	"handler": handlers, "tracker": tasks, "group": groups, "sink": sinks, "state": words(jobStates()...),
	"topic": topics, "dead": topics, "timer": timers, "zone": zones, "with": tasksWithTimer,
	"most": words("none", "1", "2", "4"),
}

// files are the flags and the arguments that are names of files: the shell knows them.
var files = []string{"config", "file", "import crontab", "import ics", "task apply", "man"}

// Add gives the arguments and flags of all commands their values.
func Add(env *ui.Env, root *cobra.Command) {
	for command := range tree(root) {
		path := pathOf(command)
		if !slices.Contains(files, path) && command.ValidArgsFunction == nil {
			command.ValidArgsFunction = complete(env, argumentSource(path), strings.Contains(command.Use, "..."))
		}
		command.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains(files, f.Name) || f.Name == "help" || f.Name == "version" {
				return
			}
			if _, exists := command.GetFlagCompletionFunc(f.Name); exists {
				return
			}
			// The flag is there, and has none yet.
			_ = command.RegisterFlagCompletionFunc(f.Name, complete(env, flagSource(f), true))
		})
	}
}

// tree are a command and those below it.
func tree(command *cobra.Command) func(func(*cobra.Command) bool) {
	return func(yield func(*cobra.Command) bool) {
		if !yield(command) {
			return
		}
		for _, child := range command.Commands() {
			for c := range tree(child) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// pathOf is the path of a command without the program's name.
func pathOf(command *cobra.Command) string {
	_, path, _ := strings.Cut(command.CommandPath(), " ")
	return path
}

func nothing(*completer) []string { return nil }

// argumentSource is where the values of a command's arguments come from.
func argumentSource(path string) source {
	if from := ofArguments[path]; from != nil {
		return from
	}
	return nothing
}

// flagSource is where the values of a flag come from.
func flagSource(f *pflag.Flag) source {
	switch value := f.Value.(type) {
	case *ui.Choice:
		return words(value.Allowed...)
	case *ui.TimeFlag:
		return times(value)
	}
	if f.Name == "task" { // the id of a task, or what it runs
		if name, _ := pflag.UnquoteUsage(f); name == "id" {
			return tasks
		}
		return handlers
	}
	if from := ofFlags[f.Name]; from != nil {
		return from
	}
	return nothing
}

// complete makes a function that proposes what a source has. Unless there may be
// several values, the first argument is the last.
func complete(env *ui.Env, from source, several bool) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c := &completer{ctx: command.Context(), env: env, command: command}
		var list []cobra.Completion
		for _, value := range from(c) {
			name, _, _ := strings.Cut(value, "\t")
			if strings.HasPrefix(name, begun) && !slices.Contains(args, name) && !slices.Contains(list, value) {
				list = append(list, value)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
