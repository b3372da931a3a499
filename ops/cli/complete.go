package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// What the Tab key asks of the database: somebody waits at the keyboard.
const (
	tabPatience = 2 * time.Second
	tabMost     = 200
)

// addCompletion gives the shell's Tab key the ids of tasks and jobs, and the words that flags
// accept.
func addCompletion(env *ui.Env, command *cobra.Command) {
	for _, c := range command.Commands() {
		addCompletion(env, c)
	}
	words := strings.Fields(command.CommandPath() + " " + strings.TrimPrefix(command.Use, command.Name()))
	switch path := strings.Join(words[1:], " "); {
	case path == "why ID", strings.HasPrefix(path, "task ") && len(words) > 3 && strings.HasPrefix(words[3], "ID") && words[2] != "add":
		command.ValidArgsFunction = proposed(env, strings.Contains(path, "..."), tasks)
	case strings.HasPrefix(path, "job ") && len(words) > 3 && strings.HasPrefix(words[3], "JOB"):
		command.ValidArgsFunction = proposed(env, strings.Contains(path, "..."), jobs)
	}
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		from := valuesOf(f)
		if _, exists := command.GetFlagCompletionFunc(f.Name); from != nil && !exists {
			// The flag is there, and has none yet.
			_ = command.RegisterFlagCompletionFunc(f.Name, proposed(env, true, from))
		}
	})
}

// proposals are values, each with a tab and what some shells show beside it.
type proposals func(context.Context, *ui.Env) []string

// valuesOf are those of a flag; nil: none are known.
func valuesOf(f *pflag.Flag) proposals {
	name, _ := pflag.UnquoteUsage(f)
	choice, isChoice := f.Value.(*ui.Choice)
	switch {
	case isChoice:
		return func(context.Context, *ui.Env) []string { return choice.Allowed }
	case f.Name == "task" && name == "id":
		return tasks
	case f.Name == "state":
		return jobStates
	}
	return nil
}

// proposed are the values that begin as what was typed. Unless there may be several, the first
// argument is the last.
func proposed(env *ui.Env, several bool, from proposals) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, begun string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, value := range from(command.Context(), env) {
			if name, _, _ := strings.Cut(value, "\t"); strings.HasPrefix(name, begun) && !slices.Contains(args, name) {
				list = append(list, value)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// ask asks the database. One that does not answer means no proposals, and no message on the
// terminal.
func ask(ctx context.Context, env *ui.Env, read func(context.Context, *store.DB) error) {
	ctx, cancel := context.WithTimeout(ctx, tabPatience)
	defer cancel()
	_ = env.WithDatabase(ctx, func(db *store.DB) error { return read(ctx, db) })
}

func tasks(ctx context.Context, env *ui.Env) (list []string) {
	ask(ctx, env, func(ctx context.Context, db *store.DB) error {
		found, err := periodic.NewTasks(db.Tasks()).List(ctx, periodic.TaskFilter{Limit: tabMost})
		for _, t := range found {
			list = append(list, described(t.ID, t.Timer))
		}
		return err
	})
	return list
}

func jobs(ctx context.Context, env *ui.Env) (list []string) {
	ask(ctx, env, func(ctx context.Context, db *store.DB) error {
		found, err := jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{Limit: tabMost})
		for _, j := range found {
			list = append(list, described(j.JID, j.State.Word()+" "+j.Task))
		}
		return err
	})
	return list
}

func jobStates(context.Context, *ui.Env) (list []string) {
	for _, s := range jobqueue.States() {
		list = append(list, s.Word())
	}
	return list
}

func described(value, about string) string {
	return ui.Printable(strings.ReplaceAll(value, "\t", " ")) + "\t" + strings.ReplaceAll(text.FirstLine(ui.Printable(about)), "\t", " ")
}
