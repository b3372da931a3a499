package timer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// previewOptions are the flags of `nextrun preview`.
type previewOptions struct {
	span   ui.Flag[time.Duration]
	number int
	asJSON bool
}

// PreviewCommand returns `nextrun preview`.
func PreviewCommand(env *ui.Env) *cobra.Command {
	o, day := previewOptions{span: spanFlag()}, 24*time.Hour
	o.span.Value = &day
	command := &cobra.Command{
		Use:   "preview",
		Short: "Show the coming ticks of all tasks",
		Long: `Show the coming ticks of all tasks, with jitter, bounds and clock changes
applied, and the busiest minutes. A task with more than 24 of them has one line;
JSON has each tick.`,
		Example: `  nextrun preview --hours 2d`,
		Args:    ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.number < 0 {
				return ui.Usagef("-n is %d; use 0 (all) or more", o.number)
			}
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				return preview(c.Context(), env, periodic.NewTasks(db.Tasks()), o)
			})
		},
	}
	flags := command.Flags()
	flags.Var(&o.span, "hours", "how far to look ahead: hours, or a duration such as 90m or 2d (default 24)")
	flags.IntVarP(&o.number, "limit", "n", 1000, "maximum number of lines; 0 shows all")
	ui.JSONFlag(command, &o.asJSON)
	return command
}

func preview(ctx context.Context, env *ui.Env, tasks *periodic.Tasks, o previewOptions) error {
	list, err := tasks.List(ctx, periodic.TaskFilter{})
	if err != nil {
		return err
	}
	now := env.Now()
	until := now.Add(*o.span.Value)
	r := previewTicks{most: o.number, each: o.asJSON, series: map[string]*series{}, minutes: map[time.Time]int{}}
	for tick := range periodic.Preview(list, now, until) {
		r.add(tick)
	}
	lines := r.lines()
	result := previewResult{Ticks: lines, Total: r.total, Busiest: r.busiest(), Skips: skippedTicks(list, now, until)}
	if o.asJSON {
		return env.PrintJSON(result)
	}
	return printPreview(env, result, o)
}

// spanFlag is how far to look ahead: hours, or a duration.
func spanFlag() ui.Flag[time.Duration] {
	return ui.Flag[time.Duration]{Kind: "hours", Parse: func(text string) (time.Duration, error) {
		span, err := ui.ParseSpan(text)
		if hours, notNumber := strconv.ParseFloat(text, 64); notNumber == nil {
			span, err = ui.ParseSpan(fmt.Sprintf("%fh", hours))
		}
		const most = 366 * 24 * time.Hour
		if err != nil || span <= 0 || span > most {
			return 0, errors.New("hours, or a duration such as 90m or 2d, up to 366d")
		}
		return span, nil
	}}
}

// ahead is a time that is that long, in hours up to two days.
func ahead(span time.Duration) string {
	if span >= 48*time.Hour {
		return text.Text(span)
	}
	return fmt.Sprintf("%g h", span.Hours())
}
