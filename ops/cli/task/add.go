package task

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/ops/cli/timer"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

func addCommand(env *ui.Env) *cobra.Command {
	var f *ui.ColumnFlags[periodic.Task]
	var disabled bool
	command := &cobra.Command{
		Use:     "add ID --handler NAME --timer 'TIMER'",
		Short:   "Add a task",
		Example: `  nextrun task add nightly-backup --handler backup --timer '*-*-* 02:00 Europe/Berlin'`,
		Args:    ui.Arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.ReadArgs(env.Stdin); err != nil {
				return err
			}
			task := periodic.NewTask(args[0], "", "")
			task.Enabled = !disabled
			f.Apply(&task)
			if task.Task == "" || task.Timer == "" {
				return ui.Usagef("a task needs --handler NAME and --timer 'TIMER'")
			}
			return withQueues(c.Context(), env, func(tasks *periodic.Tasks, w *warner) error {
				if err := tasks.Add(c.Context(), task); err != nil {
					return err
				}
				w.of(&task)
				return printPlanned(c.Context(), env, tasks, "added", task.ID)
			})
		},
	}
	standard := periodic.NewTask("", "", "")
	f = columnFlags(command, &standard)
	command.Flags().BoolVar(&disabled, "disabled", false, "add the task disabled")
	return command
}

// shownElapses is how many elapses are shown beside other things.
const shownElapses = 3

// printPlanned says what was done with a task, and when it elapses next.
func printPlanned(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, done, id string) error {
	task, err := tasks.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := env.Printf("%s %s\n", done, id); err != nil {
		return err
	}
	upcoming, err := task.Upcoming(env.Now(), 1)
	if err != nil {
		return err
	}
	if len(upcoming) == 0 {
		env.Complain("warning: it never elapses; check timer, starts and ends")
	}
	if !task.Enabled {
		return env.Printf("it is disabled; enable it with: nextrun task enable %s\n", id)
	}
	if len(upcoming) == 0 {
		return nil
	}
	return printUpcoming(env, &task)
}

// nextRuns are the next elapses of a task that its pause does not skip, and those before them that its
// calendars leave out.
func nextRuns(env *ui.Env, task *periodic.Task) ([]periodic.Upcoming, error) {
	after := env.Now()
	if task.Pause.At(after) {
		if task.Pause.Until.IsZero() {
			return nil, nil
		}
		after = task.Pause.Until.Add(-time.Microsecond)
	}
	upcoming, err := task.Upcoming(after, mostLeftOut)
	open := 0
	for i, u := range upcoming {
		if u.LeftOut == "" {
			open++
		}
		if open == shownElapses {
			return upcoming[:i+1], nil
		}
	}
	return upcoming, err
}

// mostLeftOut is how many elapses are looked at.
const mostLeftOut = 10_000

// leftOut takes the elapses that calendars leave out from the others.
func leftOut(upcoming []periodic.Upcoming) (open []time.Time, left []periodic.Upcoming) {
	open = []time.Time{}
	for _, u := range upcoming {
		if u.LeftOut != "" {
			left = append(left, u)
		} else {
			open = append(open, u.Due)
		}
	}
	return open, left
}

// printUpcoming writes the next elapses of a task.
func printUpcoming(env *ui.Env, task *periodic.Task) error {
	upcoming, err := nextRuns(env, task)
	if err != nil {
		return err
	}
	schedule, err := calendar.ParseAt(task.Timer, env.Now()) // for its zone
	if err != nil {
		return err
	}
	times, left := leftOut(upcoming)
	if len(times) == 0 && len(left) > 0 {
		err = env.Printf("its calendars leave out all of its next %d elapses\n", len(left))
	} else {
		err = timer.PrintElapses(env, times, timer.ZoneOf(env, schedule))
	}
	if err != nil {
		return err
	}
	byHand := func(u periodic.Upcoming) bool { // task show says so
		return task.SkipAt(u.Due) != nil
	}
	left = slices.DeleteFunc(left, byHand)
	for _, u := range left[:min(len(left), shownElapses)] {
		if err := env.Printf("left out: %s, %s\n", env.Moment(u.Due), ui.Cell(u.LeftOut)); err != nil {
			return err
		}
	}
	if len(times) == 0 || task.Jitter == 0 {
		return nil
	}
	return env.Printf("+ %s, its part of the jitter\n", ui.Seconds(upcoming[0].NextRun.Sub(upcoming[0].Due)))
}
