package event

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

// lagJSON is the JSON form of a topic's lag.
type lagJSON struct {
	Topic   string     `json:"topic"`
	Pending int        `json:"pending"`
	Oldest  *time.Time `json:"oldest"`
	Age     float64    `json:"age"` // seconds
	Dead    int        `json:"dead"`
	Strict  bool       `json:"strict"`
	Holder  *string    `json:"holder"`
	Problem *string    `json:"problem"`
	Retry   *time.Time `json:"retry"`
}

func lagCommand(env *ui.Env) *cobra.Command {
	var asJSON bool
	var most ui.MostFlag
	command := &cobra.Command{
		Use:   "lag",
		Short: "Show which topics have unpublished events, and since when",
		Args:  ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return withOutbox(c.Context(), env, func(_ *store.DB, admin outbox.Admin) error {
				list, err := admin.Lag(c.Context())
				if err != nil {
					return err
				}
				lines := []lagJSON{}
				t := ui.NewTable("TOPIC", "PENDING", "OLDEST", "DEAD", "STRICT", "RELAY", "PROBLEM").Least("STRICT", "RELAY").
					IfEmpty("none: all events are published")
				for _, l := range ui.First(list, most) {
					lines = append(lines, lagJSON{l.Topic, l.Pending, ui.TimeOrNull(l.Oldest), l.Age.Seconds(), l.Dead, l.Strict,
						ui.TextOrNull(l.Holder), ui.TextOrNull(l.Problem), ui.TimeOrNull(l.Retry)})
					t.Add(l.Topic, l.Pending, env.Ago(l.Oldest), l.Dead, ui.YesNo(l.Strict), l.Holder, text.FirstLine(l.Problem))
				}
				return env.PrintTable(t, lines, asJSON)
			})
		},
	}
	ui.LimitFlag(command, &most)
	ui.JSONFlag(command, &asJSON)
	return command
}
