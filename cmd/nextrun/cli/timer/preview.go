package timer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// previewOptions are the flags of `nextrun preview`.
type previewOptions struct {
	span   spanFlag
	number int
	with   timersFlag
	each   bool
	asJSON bool
	asSVG  bool
}

// PreviewCommand returns `nextrun preview`.
func PreviewCommand(env *ui.Env) *cobra.Command {
	o := previewOptions{span: spanFlag(24 * time.Hour)}
	command := &cobra.Command{
		Use:   "preview",
		Short: "Show the coming ticks of all tasks",
		Long: `Show the coming ticks of all tasks, with spread, jitter, bounds and clock changes
applied, and the busiest minutes with what a spread for their tasks would leave of
them: see --spread of nextrun task set. A task with more than 24 of them has one line, unless
--each is given. --with shows what another timer would add (+) and remove (-),
without changing the task. --svg draws the ticks: a timeline, or a calendar for more
than two weeks.`,
		Example: `  nextrun preview --hours 2d
  nextrun preview --with nightly-backup='*-*-* 03:30'
  nextrun preview --hours 7d --svg > week.svg`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if len(o.with) > 0 && !c.Flags().Changed("hours") {
				o.span = spanFlag(7 * 24 * time.Hour)
			}
			if o.number < 0 {
				return ui.Usagef("-n is %d; use 0 (all) or more", o.number)
			}
			if o.asSVG {
				o.each, o.number = true, drawnTicks
			}
			return env.WithQueues(c.Context(), func(db *store.DB, queues ui.Queues) error {
				return preview(c.Context(), env, periodic.NewTasks(db.Tasks()), queues, o)
			})
		},
	}
	flags := command.Flags()
	flags.Var(&o.span, "hours", "how far to look ahead: hours, or a duration such as 90m or 2d (default 24; with --with a week)")
	flags.IntVarP(&o.number, "limit", "n", 1000, "maximum number of lines; 0 shows all")
	flags.BoolVar(&o.each, "each", false, "list each tick, also of frequent tasks")
	flags.Var(&o.with, "with", "preview this timer for the task; may be given more than once")
	flags.BoolVar(&o.asSVG, "svg", false, "draw the ticks as SVG, on standard output")
	ui.JSONFlag(command, &o.asJSON)
	command.MarkFlagsMutuallyExclusive("svg", "json")
	return command
}

func preview(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, queues ui.Queues, o previewOptions) error {
	list, err := tasks.List(ctx, periodic.TaskFilter{})
	if err != nil {
		return err
	}
	changed, err := withTimers(list, o.with)
	if err != nil {
		return err
	}
	env.WarnBlocked(queues, changed)
	now := env.Now()
	until := now.Add(time.Duration(o.span))
	r := newPreview(changed, o.number, o.each)
	if len(o.with) == 0 {
		for tick := range periodic.Preview(list, now, until) {
			r.count(tick)
			r.add("", tick)
		}
		return writePreview(env, r, o, now, until)
	}
	for tick := range periodic.Preview(changed, now, until) {
		r.count(tick)
	}
	r.compare(only(list, o.with), only(changed, o.with), now, until)
	return writePreview(env, r, o, now, until)
}

func writePreview(env *ui.Env, r *previewTicks, o previewOptions, now, until time.Time) error {
	if o.asSVG {
		return drawPreview(env, r.lines(), r.total, now, until)
	}
	result := r.result()
	result.Changed = changedTicks(r.tasks, now, until)
	return printPreview(env, result, o)
}

// withTimers returns the tasks with other timers, as an edit would leave them.
func withTimers(list []periodic.Task, with map[string]string) ([]periodic.Task, error) {
	changed := slices.Clone(list)
	for id, timer := range with {
		i := slices.IndexFunc(changed, func(t periodic.Task) bool { return t.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("task %q: not found; see: nextrun task list", id)
		}
		t := &changed[i]
		if t.Timer == timer {
			continue
		}
		t.Timer, t.Due, t.NextRun, t.Problem = timer, time.Time{}, periodic.Unplanned, ""
		if _, err := t.Upcoming(periodic.Unplanned, 1); err != nil {
			var parseErr *calendar.ParseError
			if errors.As(err, &parseErr) {
				return nil, BadTimer(err)
			}
			return nil, err
		}
	}
	return changed, nil
}

// only returns the tasks that have other timers.
func only(list []periodic.Task, with map[string]string) []periodic.Task {
	return slices.DeleteFunc(slices.Clone(list), func(t periodic.Task) bool {
		_, ok := with[t.ID]
		return !ok
	})
}

// spanFlag is how far to look ahead.
type spanFlag time.Duration

func (f *spanFlag) String() string { return "" }
func (f *spanFlag) Type() string   { return "hours" }

// words are hours up to two days.
func (f *spanFlag) words() string {
	if ahead := time.Duration(*f); ahead >= 48*time.Hour {
		return span.Text(ahead)
	}
	return fmt.Sprintf("%g h", time.Duration(*f).Hours())
}

// Set reads hours, or a duration.
func (f *spanFlag) Set(text string) error {
	span, err := ui.ParseSpan(text)
	if hours, notNumber := strconv.ParseFloat(text, 64); notNumber == nil {
		span, err = ui.ParseSpan(fmt.Sprintf("%fh", hours))
	}
	const most = 366 * 24 * time.Hour
	if err != nil || span <= 0 || span > most {
		return errors.New("use hours, or a duration such as 90m or 2d, up to 366d")
	}
	*f = spanFlag(span)
	return nil
}

// timersFlag is a flag that holds timers by id.
type timersFlag map[string]string

func (f *timersFlag) String() string { return "" }
func (f *timersFlag) Type() string   { return "id='TIMER'" }

// Set adds a timer.
func (f *timersFlag) Set(text string) error {
	id, timer, found := strings.Cut(text, "=")
	if !found || id == "" {
		return errors.New("use id='TIMER'")
	}
	if *f == nil {
		*f = timersFlag{}
	}
	(*f)[id] = timer
	return nil
}
