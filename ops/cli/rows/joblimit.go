package rows

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func limitJobs(env *ui.Env) *cobra.Command {
	list := List[jobqueue.Limit]{
		Use:   "limit [KIND NAME NUMBER]",
		Short: "Limit or pause the jobs of a group, a handler or a task; list the limits",
		Long: `Limit how many jobs of a group, a handler or a task run at once, over all executors. With
0 no job begins until you change the limit; the NUMBER "none" removes it. Jobs that run
go on. Without arguments: list the limits.`,
		Example: `  nextrun job limit
  nextrun job limit group night 3
  nextrun job limit handler backup 0         # a pause
  nextrun job limit task nightly-backup none`,
		None:  "none; to set one: nextrun job limit group NAME NUMBER",
		Table: ui.NewTable("KIND", "NAME", "MAX", "RUNNING"),
		Row: func(l *jobqueue.Limit) (any, []any) {
			return ui.Object{{"kind", l.Kind}, {"name", l.Name}, {"max", l.Max}, {"running", l.Running}}, []any{l.Kind, l.Name, l.Max, l.Running}
		},
		Read: func(ctx context.Context, db *store.DB) ([]jobqueue.Limit, error) {
			return jobqueue.NewQueue(db.Jobs()).Limits(ctx)
		},
	}
	command := list.Command(env)
	printLimits := command.RunE
	command.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return ui.Arguments("KIND", "NAME", "NUMBER")(c, args)
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return printLimits(c, args)
		}
		return changeLimit(c.Context(), env, args)
	}
	return command
}

// changeLimit sets or removes a limit.
func changeLimit(ctx context.Context, env *ui.Env, args []string) error {
	scope := jobqueue.Scope{Kind: jobqueue.ScopeKind(args[0]), Name: args[1]}
	most, err := strconv.Atoi(args[2])
	switch {
	case !slices.Contains([]string{"group", "handler", "task"}, args[0]):
		return ui.Usagef("%q cannot be limited; use group, handler or task", args[0])
	case (err != nil || most < 0) && args[2] != "none":
		return ui.Usagef("the limit is %q; use a number, 0 for a pause, or none", args[2])
	}
	return env.WithDatabase(ctx, func(db *store.DB) error {
		if args[2] == "none" {
			return removeLimit(ctx, env, db, scope)
		}
		return setLimit(ctx, env, db, scope, most)
	})
}

func setLimit(ctx context.Context, env *ui.Env, db *store.DB, s jobqueue.Scope, most int) (err error) {
	if s.Kind == jobqueue.ScopeTask {
		s.Name, err = FindTask(ctx, periodic.NewTasks(db.Tasks()), s.Name)
	}
	if err == nil {
		err = jobqueue.NewQueue(db.Jobs()).SetLimit(ctx, s.Kind, s.Name, most)
	}
	switch {
	case err != nil:
		return err
	case most == 0:
		return env.Printf("paused %s %s: none of its jobs begins\n", s.Kind, ui.Cell(s.Name))
	}
	return env.Printf("limited %s %s: %s at once\n", s.Kind, ui.Cell(s.Name), ui.Counted(most, "job"))
}

func removeLimit(ctx context.Context, env *ui.Env, db *store.DB, s jobqueue.Scope) error {
	was, err := jobqueue.NewQueue(db.Jobs()).DropLimit(ctx, s.Kind, s.Name)
	switch {
	case err != nil:
		return err
	case !was:
		return fmt.Errorf("%s %q has no limit; see: nextrun job limit", s.Kind, s.Name)
	}
	return env.Printf("%s %s has no limit any more\n", s.Kind, ui.Cell(s.Name))
}
