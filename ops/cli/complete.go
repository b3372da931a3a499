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

// inOrder are values that are no files, in an order of their own.
const inOrder = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

// addCompletion gives the shell's Tab key the ids of tasks and jobs, and the words that flags
// accept.
func addCompletion(env *ui.Env, command *cobra.Command) {
	for _, c := range command.Commands() {
		addCompletion(env, c)
	}
	_, argument, _ := strings.Cut(command.Use, " ")
	argument, _, _ = strings.Cut(argument, " ")
	switch name, several := strings.CutSuffix(argument, "..."); {
	case name == "ID" && command.Name() != "add":
		command.ValidArgsFunction = proposed(env, several, tasks)
	case name == "JOB":
		command.ValidArgsFunction = proposed(env, several, jobs)
	}
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		var from cobra.CompletionFunc
		if of, is := f.Value.(interface{ Words() []string }); is && of.Words() != nil {
			from = cobra.FixedCompletions(of.Words(), inOrder)
		} else if name, _ := pflag.UnquoteUsage(f); f.Name == "task" && name == "id" {
			from = proposed(env, true, tasks)
		}
		if from != nil {
			_ = command.RegisterFlagCompletionFunc(f.Name, from) // the flag is there
		}
	})
}

// proposals are values, each with a tab and what some shells show beside it.
type proposals func(context.Context, *store.DB) ([]string, error)

// proposed are the values that begin as what was typed. Unless there may be several, the first
// argument is the last. A database that does not answer means no values, and no message on the
// terminal.
func proposed(env *ui.Env, several bool, from proposals) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, begun string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(command.Context(), tabPatience)
		defer cancel()
		if len(args) == 0 || several {
			_ = env.WithDatabase(ctx, func(db *store.DB) (err error) {
				list, err = from(ctx, db)
				return err
			})
		}
		return slices.DeleteFunc(list, func(value string) bool {
			name, _, _ := strings.Cut(value, "\t")
			return !strings.HasPrefix(name, begun) || slices.Contains(args, name)
		}), inOrder
	}
}

func tasks(ctx context.Context, db *store.DB) (list []string, err error) {
	found, err := periodic.NewTasks(db.Tasks()).List(ctx, periodic.TaskFilter{Limit: tabMost})
	for _, t := range found {
		list = append(list, described(t.ID, t.Timer))
	}
	return list, err
}

func jobs(ctx context.Context, db *store.DB) (list []string, err error) {
	found, err := jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{Limit: tabMost})
	for _, j := range found {
		list = append(list, described(j.JID, j.State.Word()+" "+j.Task))
	}
	return list, err
}

func described(value, about string) string {
	return ui.Cell(value) + "\t" + ui.Cell(text.FirstLine(about))
}
