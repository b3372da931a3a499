package calendars

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun calendar` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "calendar",
		Short: "Manage days on which tasks run, or do not, the rows of the table periodic_calendar",
	}, addCommand(env), listCommand(env), removeCommand(env))
}

// withRows runs fn with the calendars of the database and their rows.
func withRows(ctx context.Context, env *ui.Env, fn func(*periodic.Calendars, []days.Row) error) error {
	return env.WithDatabase(ctx, func(db *store.DB) error {
		calendars := periodic.NewTasks(db.Tasks()).Calendars
		rows, err := calendars.List(ctx)
		if err != nil {
			return err
		}
		return fn(calendars, rows)
	})
}

// of are the rows of a calendar.
func of(rows []days.Row, name string) []days.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r days.Row) bool { return r.Name != name })
}

func addCommand(env *ui.Env) *cobra.Command {
	var reason string
	command := &cobra.Command{
		Use:   "add NAME 'WHEN'",
		Short: "Add days to a calendar, or a time that recurs",
		Long: `Add a day, several days, or a time that recurs to a calendar. A calendar that is not there
yet is made. Days are those of the zone of each task's timer, and so is a time without a zone.
`,
		Example: `  nextrun calendar add de-BY 2026-12-24 --reason Heiligabend
  nextrun calendar add company '2026-12-28 to 2026-12-31' --reason 'between the years'
  nextrun calendar add office 'Mon..Fri 08:00 for 10h'`,
		Args: ui.Arguments("NAME", "WHEN"),
		RunE: func(c *cobra.Command, args []string) error {
			row, err := days.ParseWhen(args[1])
			if err != nil {
				return ui.Usagef("%v", err)
			}
			row.Name, row.Reason = args[0], reason
			if err := row.Validate(); err != nil {
				return ui.Usagef("%v", err)
			}
			return withRows(c.Context(), env, func(calendars *periodic.Calendars, have []days.Row) error {
				add, _ := days.Changes(of(have, row.Name), []days.Row{row})
				if len(add) == 0 {
					return env.Printf("calendar %s has %s already\n", row.Name, ui.Cell(row.When()))
				}
				if err := calendars.Change(c.Context(), add, nil); err != nil {
					return err
				}
				return env.Printf("added %s to calendar %s\n", ui.Cell(row.When()), row.Name)
			})
		},
	}
	command.Flags().StringVar(&reason, "reason", "", "why, such as the name of a holiday; recorded with the ticks that are left out")
	return command
}

func listCommand(env *ui.Env) *cobra.Command {
	var list ui.ListFlags
	command := &cobra.Command{
		Use:   "list [NAME]",
		Short: "List the rows of calendars",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withRows(c.Context(), env, func(_ *periodic.Calendars, rows []days.Row) error {
				if len(args) > 0 {
					if rows = of(rows, args[0]); len(rows) == 0 {
						return unknown(args[0])
					}
				}
				table := ui.NewTable("ID", "CALENDAR", "WHEN", "REASON").IfEmpty("none; to add one: nextrun calendar add NAME DAY")
				return ui.PrintList(env, &list, table, rows, func(r *days.Row) (any, []any) {
					when, problem := r.When(), ""
					if err := r.Validate(); err != nil {
						problem = err.Error()
						when += " (ignored: " + problem + ")"
					}
					return ui.Object{
						{"id", r.ID}, {"calendar", r.Name}, {"first_day", dayJSON(r.First)}, {"last_day", dayJSON(r.Last)},
						{"timer", ui.OrNull(r.Timer)}, {"length", ui.OrNull(int(r.Length / time.Second))}, {"reason", ui.OrNull(r.Reason)},
						{"problem", ui.OrNull(problem)},
					}, []any{r.ID, r.Name, when, r.Reason}
				})
			})
		},
	}
	ui.JSONFlag(command, &list.JSON)
	return command
}

func unknown(name string) error {
	return fmt.Errorf("there is no calendar %q; see: nextrun calendar list", name)
}

func dayJSON(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format(time.DateOnly)
}

func removeCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME [ID...]",
		Short: "Remove a calendar, or some of its rows",
		Long: `Remove a calendar, or the rows of it with these ids, which calendar list shows. A calendar
that a task uses keeps at least one row.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withRows(c.Context(), env, func(calendars *periodic.Calendars, rows []days.Row) error {
				rows = of(rows, args[0])
				if len(rows) == 0 {
					return unknown(args[0])
				}
				var ids []int64
				for _, text := range args[1:] {
					i := slices.IndexFunc(rows, func(r days.Row) bool { return strconv.FormatInt(r.ID, 10) == text })
					if i < 0 {
						return fmt.Errorf("the calendar %q has no row %s; see: nextrun calendar list %s", args[0], ui.Cell(text), args[0])
					}
					ids = append(ids, rows[i].ID)
				}
				if len(args) == 1 {
					for _, r := range rows {
						ids = append(ids, r.ID)
					}
				}
				if err := calendars.Change(c.Context(), nil, ids); err != nil {
					return err
				}
				return env.Printf("removed %s of calendar %s\n", ui.Counted(len(ids), "row"), args[0])
			})
		},
	}
}
