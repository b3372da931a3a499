package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
)

func (p *program) taskAddCommand() *cobra.Command {
	var f taskFlags
	var disabled bool
	command := &cobra.Command{
		Use:     "add ID --task NAME --timer 'TIMER'",
		Short:   "Add a task",
		Example: `  nextrun task add nightly-backup --task backup --timer '*-*-* 02:00 Europe/Berlin'`,
		Args:    arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.task == "" || f.timer == "" {
				return usagef("a task needs --task NAME and --timer 'TIMER'")
			}
			if err := p.fromStdin(&f.args); err != nil {
				return err
			}
			task := periodic.NewTask(args[0], f.task, f.timer)
			task.Enabled = !disabled
			f.apply(c, &task)
			return p.withTasks(c.Context(), func(tasks *periodic.Tasks) error {
				if err := tasks.Add(c.Context(), task); err != nil {
					return err
				}
				return p.printPlanned(c.Context(), tasks, "added", task.ID)
			})
		},
	}
	f.register(command)
	command.Flags().BoolVar(&disabled, "disabled", false, "add it without enabling it")
	return command
}

// shownElapses is how many elapses are shown beside other things.
const shownElapses = 3

// printPlanned says what was done with a task, and when it elapses next.
func (p *program) printPlanned(ctx context.Context, tasks *periodic.Tasks, done, id string) error {
	task, err := tasks.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := p.printf("%s %s\n", done, id); err != nil {
		return err
	}
	upcoming, err := task.Upcoming(p.now(), 1)
	if err != nil {
		return err
	}
	if len(upcoming) == 0 {
		p.complain("warning: it never elapses; look at timer, starts and ends")
	}
	if !task.Enabled {
		return p.printf("it is disabled; enable it with: nextrun task enable %s\n", id)
	}
	if len(upcoming) == 0 {
		return nil
	}
	return p.printUpcoming(&task)
}

// printUpcoming writes the next elapses of a task.
func (p *program) printUpcoming(task *periodic.Task) error {
	upcoming, err := task.Upcoming(p.now(), shownElapses)
	if err != nil {
		return err
	}
	schedule, err := calendar.ParseAt(task.Timer, p.now()) // for its zone
	if err != nil {
		return err
	}
	times := make([]time.Time, len(upcoming))
	for i, tick := range upcoming {
		times[i] = tick.Due
	}
	if err := p.printElapses(times, p.zoneOf(schedule)); err != nil {
		return err
	}
	if len(times) == 0 || task.Jitter == 0 {
		return nil
	}
	return p.printf("+ up to %s jitter\n", seconds(task.Jitter))
}
