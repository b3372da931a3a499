package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/internal/why"
)

// whyView says what keeps a task from running, as `nextrun why` does.
type whyView struct {
	Findings []why.Finding `json:"findings"`
	Job      string        `json:"job,omitempty"`    // that failed last
	Output   []string      `json:"output,omitempty"` // the end of its log
}

// kindOf is the shape and colour of a state: what needs attention does not look well.
func kindOf(state view.State, cause view.Code) string {
	switch kind := show.Kind(string(state)); {
	case kind == "bad", kind == "pause", cause == "":
		return kind
	}
	return "warn"
}

// shownFindings are findings as a page shows them.
func (s *source) shownFindings(list []why.Finding) []why.Finding {
	shown := []why.Finding{}
	for _, f := range list {
		f.Text = show.Shorten(show.Printable(s.mask.Line(f.Text)), 500)
		shown = append(shown, f)
	}
	return shown
}

func (s *server) why(ctx context.Context, id string, zone *time.Location) (whyView, error) {
	f, err := why.Explain(ctx, s.db, s.queues, id)
	if err != nil {
		return whyView{}, err
	}
	d := whyView{Findings: s.shownFindings(f.Findings(zone))}
	if f.Failed != nil {
		d.Job = f.Failed.JID
	}
	for _, line := range f.Output {
		d.Output = append(d.Output, show.Shorten(show.Printable(s.mask.Line(line)), 500))
	}
	return d, nil
}
