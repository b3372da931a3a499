package task

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// ShowCommand returns `nextrun task show`, which is also `nextrun why`.
func ShowCommand(env *ui.Env, name string) *cobra.Command {
	at, asJSON := ui.TimeFlag{Past: true}, false
	command := &cobra.Command{
		Use:   name + " ID",
		Short: "Show a task: did it work, and if not, why? When does it run next?",
		Long: `Show a task in one screen: how it is doing and why, when it runs next, its columns
without those that have their default, what became of its last ticks and jobs, the
end of the output of its last failure, and what to do. A part of an ID is enough,
if no other task's has it; --json has all columns.

With --at, tell the story of the tick at that time, or of the nearest one: when it
was due, decided and submitted, the last attempt of its job, the end of the output
and the hooks.`,
		Example: `  nextrun why nightly-backup
  nextrun why nightly-backup --at 'tuesday 02:00' --zone Europe/Berlin
  nextrun why nightly-backup --at 2026-03-28T02:00Z --json`,
		Args: ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				id, err := rows.FindTask(c.Context(), periodic.NewTasks(db.Tasks()), args[0])
				switch {
				case err != nil:
					return why.WithHolders(c.Context(), db, err)
				case at.Value.IsZero():
					return taskProblem(show(c.Context(), env, db, queues, id, asJSON))
				}
				s, err := why.Tell(c.Context(), db, id, at.Value, env.Zone)
				switch {
				case err != nil:
					return taskProblem(err)
				case asJSON:
					return env.PrintJSON(s)
				}
				return printStory(env, s)
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	command.Flags().Var(&at, "at", "tell what became of the tick at this time, or of the nearest one")
	return command
}

// show shows all about a task.
func show(ctx context.Context, env *ui.Env, db *store.DB, queues ui.Queues, id string, asJSON bool) error {
	f, err := why.Explain(ctx, db, queues, id)
	if err != nil {
		return err
	}
	s := screen{f, f.Findings(env.Zone)}
	if asJSON {
		return s.printJSON(env)
	}
	return s.print(env)
}

// printStory writes what became of a tick for people.
func printStory(env *ui.Env, s *why.Story) error {
	err := env.PrintProse("", s.Answer)
	if len(s.Steps) > 0 {
		t := ui.NewTable("TIME", "STEP", "TOOK", "WHAT").Wrap()
		for _, one := range s.Steps {
			took := ""
			if one.To.After(one.From) {
				took = text.Exact(one.To.Sub(one.From))
			}
			t.Add(one.From.In(env.Zone).Format("2006-01-02 15:04:05.000 MST"), one.Name, took, one.Text)
		}
		err = cmp.Or(err, env.Printf("\n"), env.PrintTable(t, nil, false))
	}
	err = cmp.Or(err, printOutput(env, "log", s.JID, s.Output))
	for _, unread := range s.Unread {
		err = cmp.Or(err, env.PrintProse("- ", "What cannot be read: "+unread))
	}
	if s.Before.IsZero() && s.After.IsZero() {
		return err
	}
	away := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return env.Moment(at) + ", " + env.Ago(at)
	}
	return cmp.Or(err, env.Printf("\n"), env.PrintFields([][2]string{{"tick before", away(s.Before)}, {"tick after", away(s.After)}}))
}
