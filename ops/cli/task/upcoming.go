package task

import (
	"cmp"
	"slices"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/ops/cli/timer"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// shownElapses is how many of its next elapses a task is shown with.
const shownElapses = 5

// elapsesOf are the next elapses of a task that its pause does not skip.
func elapsesOf(env *ui.Env, task *periodic.Task) ([]periodic.Upcoming, error) {
	after := env.Now()
	if p := task.Pause; p.At(after) {
		if p.Until.IsZero() {
			return nil, nil
		}
		after = p.Until.Add(-time.Microsecond)
	}
	return task.Upcoming(after, shownElapses)
}

// printUpcoming writes the next elapses of a task.
func printUpcoming(env *ui.Env, task *periodic.Task) error {
	list, err := elapsesOf(env, task)
	if err != nil {
		return err
	}
	schedule, err := calendar.ParseAt(task.Timer, env.Now()) // for its zone
	if err != nil {
		return err
	}
	header, zone := []string{"ELAPSES", "LEFT", "LEFT OUT"}, timer.ZoneOf(env, schedule)
	if !slices.ContainsFunc(list, func(u periodic.Upcoming) bool { return u.LeftOut != "" }) {
		header = header[:2]
	}
	t := ui.NewTable(header...).Wrap().IfEmpty("never elapses")
	for _, u := range list {
		t.Add([]any{u.Due.In(zone).Format("2006-01-02 15:04:05 MST"), env.Ago(u.Due), u.LeftOut}[:len(header)]...)
	}
	err = cmp.Or(env.Printf("\n"), env.PrintTable(t, nil, false))
	if len(list) > 0 && task.Jitter > 0 {
		err = cmp.Or(err, env.Printf("+ %s, its part of the jitter\n", ui.Seconds(list[0].NextRun.Sub(list[0].Due))))
	}
	return err
}
