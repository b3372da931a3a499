// Package simulate is the command `nextrun simulate`.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/simulate"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// maxDays is how far a simulation goes at most.
const maxDays = 3660

// options are the flags of `nextrun simulate`.
type options struct {
	days      int
	from      ui.TimeFlag
	outages   outagesFlag
	durations string
	set       []string
	asJSON    bool
	asSVG     bool
}

// Command returns `nextrun simulate`.
func Command(env *ui.Env) *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "simulate [ID...]",
		Short: "Replay the tasks through time: what would run, be skipped and pile up",
		Long: `Replay the tasks, or those with these IDs, through the days to come, and show what
becomes of their ticks, how many jobs run at a time, and which hour is the busiest.
The scheduler's own decisions are used; the database is only read. The replay begins
with what there is now: planned and overdue ticks, pauses, jobs that have not ended,
and ticks that wait. With --from, it begins without them: all tasks are planned anew.

A job takes as long as the task's jobs took lately (median). --durations gives
another duration for all, or a FILE with a line "ID DURATION" for each task, and
"* DURATION" for the others. --outage is a time in which no scheduler runs. --set
gives the tasks another timer or policy, and shows both results.`,
		Example: `  nextrun simulate --days 365
  nextrun simulate --from 2026-03-28 --outage 2026-03-29T00:00Z+6h
  nextrun simulate nightly-backup --set timer='*-*-* 03:30' --set overlap=queue
  nextrun simulate --durations 20m --svg > year.svg`,
		RunE: func(c *cobra.Command, ids []string) error {
			if o.days < 1 || o.days > maxDays {
				return ui.Usagef("--days is %d; use 1 to %d", o.days, maxDays)
			}
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error { return run(c.Context(), env, db, queues, ids, o) })
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.days, "days", 30, "how many days to replay")
	flags.Var(&o.from, "from", "replay from this time on (default now)")
	flags.Var(&o.outages, "outage", "no scheduler runs from this time on, for this long, such as 2026-03-29T00:00Z+6h; may be given more than once")
	flags.StringVar(&o.durations, "durations", "median", "how long jobs take: median, a duration such as 20m, or a `file`")
	flags.StringArrayVar(&o.set, "set", nil, "replay with `COLUMN=VALUE` as well, and compare; may be given more than once")
	flags.BoolVar(&o.asSVG, "svg", false, "draw the jobs of each day as SVG, on standard output")
	ui.JSONFlag(command, &o.asJSON)
	command.MarkFlagsMutuallyExclusive("svg", "json")
	return command
}

func run(ctx context.Context, env *ui.Env, db *store.DB, queues ui.Queues, ids []string, o options) error {
	tasks, err := choose(ctx, db, ids)
	if err != nil {
		return err
	}
	env.WarnBlocked(queues, tasks)
	o.from.Resolve(env.Now(), env.Zone)
	settings := simulate.Options{Span: simulate.Span{From: o.from.Value}}
	fromNow := settings.From.IsZero()
	if fromNow {
		settings.From = env.Now()
	} else {
		replan(tasks) // the plans of the rows are for the time from now on
	}
	settings.To = settings.From.Add(time.Duration(o.days) * 24 * time.Hour)
	if settings.Outages, err = o.outages.spans(env); err != nil {
		return err
	}
	d, err := readDurations(ctx, db, o.durations, tasks)
	if err != nil {
		return err
	}
	settings.Takes = d.takes
	report := report{options: o, tasks: tasks, unknown: d.unknown(tasks)}
	if report.limits, err = limits(ctx, db); err != nil {
		return err
	}
	if fromNow {
		if report.unseen, err = present(ctx, db, queues, tasks, &settings); err != nil {
			return err
		}
	}
	if report.changed, err = change(tasks, o.set); err != nil {
		return err
	}
	if report.now, err = simulate.Run(ctx, tasks, settings); err != nil {
		return err
	}
	if len(o.set) > 0 {
		if report.then, err = simulate.Run(ctx, report.changed, settings); err != nil {
			return err
		}
	}
	return report.write(env)
}

// choose reads the tasks with these ids, or all.
func choose(ctx context.Context, db *store.DB, ids []string) ([]periodic.Task, error) {
	tasks := periodic.NewTasks(db.Tasks())
	if len(ids) == 0 {
		return tasks.List(ctx, periodic.TaskFilter{})
	}
	var list []periodic.Task
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		t, err := tasks.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// replan makes the tasks forget their plans.
func replan(tasks []periodic.Task) {
	for i := range tasks {
		tasks[i].Due, tasks[i].NextRun = time.Time{}, periodic.Unplanned
	}
}

// outagesFlag holds the texts of outages until the zone is known.
type outagesFlag []string

func (f *outagesFlag) String() string { return "" }
func (f *outagesFlag) Type() string   { return "TIME+DURATION" }

// Set checks an outage.
func (f *outagesFlag) Set(text string) error {
	_, err := outage(text, time.Now(), time.UTC)
	*f = append(*f, text)
	return err
}

func (f *outagesFlag) spans(env *ui.Env) (spans []simulate.Span, err error) {
	for _, text := range *f {
		s, err := outage(text, env.Now(), env.Zone)
		if err != nil {
			return nil, err
		}
		spans = append(spans, s)
	}
	return spans, nil
}

func outage(text string, now time.Time, zone *time.Location) (s simulate.Span, err error) {
	begin, length := cutLast(text, "+")
	if s.From, err = ui.ParseWhen(begin, ui.Clock{Now: now, Zone: zone}); err != nil {
		return s, fmt.Errorf("%w; an outage is TIME+DURATION, such as 2026-03-29T00:00Z+6h", err)
	}
	takes, err := ui.ParseSpan(length)
	if err != nil || takes <= 0 {
		return s, fmt.Errorf("the outage %q: after the last + stands how long it takes, such as 6h or 2d", text)
	}
	s.To = s.From.Add(takes)
	return s, nil
}

// limits says that limits of jobs are left out; empty: there are none.
func limits(ctx context.Context, db *store.DB) (string, error) {
	list, err := jobqueue.NewQueue(db.Jobs()).Limits(ctx)
	if err != nil && !errors.Is(err, store.ErrNoJobs) {
		return "", err
	}
	if len(list) == 0 {
		return "", nil
	}
	return "the limits in job_limit: jobs begin here when they are submitted; see: nextrun job limits", nil
}
