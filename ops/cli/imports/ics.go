package imports

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/ical"
)

// yearsAhead is for how many years events that recur become days.
const yearsAhead = 10

func icsCommand(env *ui.Env) *cobra.Command {
	var name string
	command := translator(env, &cobra.Command{
		Use:   "ics [FILE]",
		Short: "Translate an iCalendar file into the days of a calendar",
		Long: `Translate the whole days of an iCalendar file (RFC 5545), or of standard input, such as
public holidays, into a calendar for task apply on standard output. It needs no database.
Events that recur become days from last year on, for ten years to come.

An event that has times or a zone, or that is not understood, is named on standard error
and left out with its whole series; then the exit code is 1.`,
		Example: `  nextrun import ics de-BY.ics > de-BY.yaml
  curl -s https://example.org/holidays.ics | nextrun import ics --name de-BY | nextrun task apply -f -`,
	}, "event", func(c *cobra.Command, s source) (leftOut int, err error) {
		if name == "" {
			name = strings.TrimSuffix(filepath.Base(s.path), filepath.Ext(s.path))
		}
		now := env.Now().UTC()
		rows, problems, err := ical.Read(c.Context(), s.text, name, now.AddDate(-1, 0, 0), now.AddDate(yearsAhead, 0, 0))
		if err != nil {
			return 0, err
		}
		for _, p := range problems {
			env.Complain("%s: left out: %s: %v", s.name, p.Event, p.Err)
		}
		for _, r := range rows {
			if err := r.Validate(); err != nil {
				return 0, ui.Usagef("%v; name it with --name", err)
			}
		}
		return len(problems), config.WriteTasks(env.Stdout, nil, rows)
	})
	command.Flags().StringVar(&name, "name", "", "of the calendar (default that of the file, without .ics)")
	return command
}
