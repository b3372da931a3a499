package task

import (
	"cmp"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/why"
)

// printStory writes what became of a tick for people.
func printStory(env *ui.Env, s *why.Story) error {
	err := env.PrintProse("", s.Answer)
	if len(s.Steps) > 0 {
		t := ui.NewTable("TIME", "STEP", "TOOK", "WHAT").Wrap()
		for _, one := range s.Steps {
			took := ""
			if one.To.After(one.From) {
				took = text.Exact(one.To.Sub(one.From))
			}
			t.Add(one.From.In(env.Zone).Format("2006-01-02 15:04:05.000 MST"), one.Name, took, one.Text)
		}
		err = cmp.Or(err, env.Printf("\n"), env.PrintTable(t, nil, false))
	}
	err = cmp.Or(err, printOutput(env, "log", s.JID, s.Output))
	for _, unread := range s.Unread {
		err = cmp.Or(err, env.PrintProse("- ", "What cannot be read: "+unread))
	}
	if s.Before.IsZero() && s.After.IsZero() {
		return err
	}
	away := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return env.Moment(at) + ", " + env.Ago(at)
	}
	return cmp.Or(err, env.Printf("\n"), env.PrintFields([][2]string{{"tick before", away(s.Before)}, {"tick after", away(s.After)}}))
}
