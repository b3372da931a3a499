package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// How many actions a page shows.
const shownActions = 20

// actionRow is what somebody did.
type actionRow struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Action string    `json:"action"`
	Task   string    `json:"task,omitempty"`
	JID    string    `json:"jid,omitempty"`
	Detail string    `json:"detail,omitempty"`
}

// recorded is what people did last: with a task, with a job, or at all.
func (s *server) recorded(ctx context.Context, task, jid string) ([]actionRow, error) {
	actions, err := figures.Of(s.db).Actions(ctx, task, jid, shownActions)
	list := make([]actionRow, len(actions))
	for i, a := range actions {
		list[i] = actionRow{a.At, show.Printable(a.Who), show.Printable(a.Action), a.TaskID, a.JID, show.Printable(s.mask.Line(a.Detail))}
	}
	return list, err
}
