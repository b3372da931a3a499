package task

import (
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/why"
)

// story writes what became of a tick for people.
func story(env *ui.Env, s *why.Story) error {
	if err := env.PrintProse("", s.Answer); err != nil {
		return err
	}
	if len(s.Steps) > 0 {
		t := ui.NewTable("TIME", "STEP", "TOOK", "WHAT").Wrap()
		for _, one := range s.Steps {
			took := ""
			if one.To.After(one.From) {
				took = text.Exact(one.To.Sub(one.From))
			}
			t.Add(one.From.In(env.Zone).Format("2006-01-02 15:04:05.000 MST"), one.Name, took, one.Text)
		}
		if err := env.Printf("\n"); err != nil {
			return err
		}
		if err := env.PrintTable(t, nil, false); err != nil {
			return err
		}
	}
	if len(s.Output) > 0 {
		if err := env.Printf("\nThe end of the log of job %s:\n\n    %s\n", s.JID, strings.Join(s.Output, "\n    ")); err != nil {
			return err
		}
	}
	for _, unread := range s.Unread {
		if err := env.PrintProse("- ", "What cannot be read: "+unread); err != nil {
			return err
		}
	}
	return beside(env, s)
}

// beside says how to go on to the ticks before and after.
func beside(env *ui.Env, s *why.Story) error {
	var lines [][2]string
	for _, one := range []struct {
		name string
		at   time.Time
	}{{"tick before", s.Before}, {"tick after", s.After}} {
		if !one.at.IsZero() {
			lines = append(lines, [2]string{one.name, env.Moment(one.at) + ", " + env.Ago(one.at)})
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if err := env.Printf("\n"); err != nil {
		return err
	}
	return env.PrintFields(lines)
}
