// Package rows holds the commands about the rows that nextrun writes, which are ticks, jobs, events and locks, and
// what commands about rows have in common: lists, and ids by a few characters.
package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// List is a command that lists rows.
type List[T any] struct {
	Use, Short, Long, Example string

	Read  func(context.Context, *store.DB) ([]T, error)
	Table *ui.Table
	Row   func(*T) (object any, cells []any) // the JSON of a row, and its cells in the table
	None  string                             // in place of no rows: how to get the first one

	Of    *Period // of rows that are made over time
	Task  *string // of the filter: the id of a task, or a part of it; empty or nil: none
	Group *string // of the filter: of which there must be a task; likewise
	JSON  bool    // set before it reads
}

// Command makes the command. The flags of its filter are added to it.
func (l *List[T]) Command(env *ui.Env) *cobra.Command {
	command := &cobra.Command{Use: l.Use, Short: l.Short, Long: l.Long, Example: l.Example, Args: ui.Arguments()}
	command.RunE = func(c *cobra.Command, _ []string) error {
		if err := l.Of.bound(); err != nil {
			return err
		}
		return env.WithDatabase(c.Context(), func(db *store.DB) error {
			found, err := l.Read(c.Context(), db)
			if err == nil && len(found) == 0 {
				found, err = l.again(c.Context(), db)
			}
			if err != nil {
				return err
			}
			return l.print(env, c, found)
		})
	}
	if l.Of != nil {
		l.Of.flags(command.Flags())
	}
	ui.JSONFlag(command, &l.JSON)
	return command
}

// again reads the rows of the task that was meant, where there were none: a part of its id will do. It is an error if there is
// no such task, or none of the group.
func (l *List[T]) again(ctx context.Context, db *store.DB) ([]T, error) {
	tasks := periodic.NewTasks(db.Tasks())
	if l.Group != nil && *l.Group != "" {
		list, err := tasks.List(ctx, periodic.TaskFilter{Group: *l.Group, Limit: 1})
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("no task of the group %q; see: nextrun task list", *l.Group)
		}
		if err != nil {
			return nil, err
		}
	}
	if l.Task == nil || *l.Task == "" {
		return nil, nil
	}
	id, err := FindTask(ctx, tasks, *l.Task)
	if err != nil || id == *l.Task {
		return nil, err
	}
	*l.Task = id
	return l.Read(ctx, db)
}

func (l *List[T]) print(env *ui.Env, command *cobra.Command, found []T) error {
	objects := make([]any, len(found))
	for i := range found {
		object, cells := l.Row(&found[i])
		objects[i] = object
		l.Table.Add(cells...)
	}
	none := l.None
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "limit" && f.Name != "json" {
			none = "none of that kind"
		}
	})
	return env.PrintTable(l.Table.IfEmpty(none), objects, l.JSON)
}

// Period are the bounds of a list of what is made over time, the latest first.
type Period struct {
	What         string // such as "jobs submitted"
	Since, Until *time.Time
	Limit        *int // its default is set

	since, until ui.TimeFlag
}

func (p *Period) flags(flags *pflag.FlagSet) {
	p.since.Past, p.until.Past = true, true
	flags.Var(&p.since, "since", "only "+p.What+" at this time or later, such as 7d, yesterday or 2026-03-28")
	flags.Var(&p.until, "until", "only "+p.What+" before this time")
	flags.IntVarP(p.Limit, "limit", "n", *p.Limit, "maximum number")
}

// bound sets the bounds.
func (p *Period) bound() error {
	if p == nil {
		return nil
	}
	*p.Since, *p.Until = p.since.Value, p.until.Value
	switch {
	case *p.Limit < 1:
		return ui.Usagef("-n is %d; use 1 or more", *p.Limit)
	case !p.Since.IsZero() && !p.Until.IsZero() && !p.Until.After(*p.Since):
		return ui.Usagef("--until %s is not later than --since %s; an age such as 2h counts back from now", &p.until, &p.since)
	}
	return nil
}

// Each does something to rows, one after another: do returns what it did, to be printed.
func Each(env *ui.Env, ids []string, do func(id string) (string, error)) error {
	for _, id := range ids {
		done, err := do(id)
		if err != nil {
			return err
		}
		if err := env.Printf("%s\n", done); err != nil {
			return err
		}
	}
	return nil
}

// NextRun says how far away the next run of a task is, and when that is.
func NextRun(env *ui.Env, t *view.Task) (in, at string) {
	next := t.Status().Next
	switch p := t.Pause; {
	case !t.Enabled:
		return "disabled", ""
	case p.At(env.Now()) && p.Until.IsZero():
		return "paused", ""
	case p.At(env.Now()) && p.At(t.NextRun):
		return "paused", "until " + env.Moment(p.Until)
	case t.Blocked() != "":
		return "blocked", ""
	case t.Unplanned():
		return "not planned yet", ""
	case next.IsZero():
		return "never", ""
	}
	if in = env.Ago(next); !next.After(env.Now()) {
		in = "due " + in
	}
	return in, env.Moment(next)
}
