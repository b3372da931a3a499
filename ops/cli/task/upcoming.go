package task

import (
	"cmp"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/ops/cli/timer"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

const (
	shownElapses = 3      // how many elapses are shown beside other things, and how many that do not take place
	mostElapses  = 10_000 // how many are looked at for these
)

// elapsesOf are the next elapses of a task that its pause does not skip, the first of those that take place and the first of
// those before them that are left out.
func elapsesOf(env *ui.Env, task *periodic.Task) (open []time.Time, list []periodic.Upcoming, err error) {
	open, after := []time.Time{}, env.Now()
	if p := task.Pause; p.At(after) {
		if p.Until.IsZero() {
			return open, nil, nil
		}
		after = p.Until.Add(-time.Microsecond)
	}
	all, err := task.Upcoming(after, mostElapses)
	for _, u := range all {
		switch {
		case len(open) == shownElapses:
			return open, list, nil
		case u.LeftOut == "":
			open, list = append(open, u.Due), append(list, u)
		case len(list)-len(open) < shownElapses:
			list = append(list, u)
		}
	}
	return open, list, err
}

// printUpcoming writes the next elapses of a task.
func printUpcoming(env *ui.Env, task *periodic.Task) error {
	open, list, err := elapsesOf(env, task)
	if err != nil {
		return err
	}
	schedule, err := calendar.ParseAt(task.Timer, env.Now()) // for its zone
	if err != nil {
		return err
	}
	header, zone := []string{"ELAPSES", "LEFT", "LEFT OUT"}, timer.ZoneOf(env, schedule)
	if len(list) == len(open) {
		header = header[:2]
	}
	t := ui.NewTable(header...).Wrap().IfEmpty("never elapses")
	for _, u := range list {
		t.Add([]any{u.Due.In(zone).Format("2006-01-02 15:04:05 MST"), env.Ago(u.Due), u.LeftOut}[:len(header)]...)
	}
	err = cmp.Or(env.Printf("\n"), env.PrintTable(t, nil, false))
	switch {
	case len(open) == 0 && len(list) > 0:
		err = cmp.Or(err, env.Printf("its calendars leave out all of its next elapses\n"))
	case len(open) > 0 && task.Jitter > 0:
		err = cmp.Or(err, env.Printf("+ %s, its part of the jitter\n", ui.Seconds(list[0].NextRun.Sub(list[0].Due))))
	}
	return err
}
