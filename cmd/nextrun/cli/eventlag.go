package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

// lagJSON is the JSON form of a topic's lag.
type lagJSON struct {
	Topic   string     `json:"topic"`
	Pending int        `json:"pending"`
	Oldest  *time.Time `json:"oldest"`
	Age     float64    `json:"ageSeconds"`
	Dead    int        `json:"dead"`
	Strict  bool       `json:"strict"`
	Holder  string     `json:"holder,omitempty"`
	Problem string     `json:"problem,omitempty"`
	Retry   *time.Time `json:"retry,omitempty"`
}

func (p *program) eventLagCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "lag",
		Short: "Show which topics have unpublished events, and since when",
		Args:  arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withOutbox(c.Context(), func(_ *store.DB, admin outbox.Admin) error {
				list, err := admin.Lag(c.Context())
				if err != nil {
					return err
				}
				lines := []lagJSON{}
				t := newTable("TOPIC", "PENDING", "OLDEST", "DEAD", "STRICT", "RELAY", "PROBLEM")
				for _, l := range list {
					lines = append(lines, lagJSON{l.Topic, l.Pending, timeOrNull(l.Oldest), l.Age.Seconds(), l.Dead, l.Strict,
						l.Holder, l.Problem, timeOrNull(l.Retry)})
					t.add(l.Topic, l.Pending, p.ago(l.Oldest), l.Dead, yesNo(l.Strict), l.Holder, firstLine(l.Problem))
				}
				return p.print(t, lines, asJSON)
			})
		},
	}
	jsonFlag(command, &asJSON)
	return command
}
