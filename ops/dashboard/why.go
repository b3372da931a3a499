package dashboard

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/diagnosis"
)

// whyView says what keeps a task from running, as `nextrun why` does.
type whyView struct {
	Verdict  string              `json:"verdict"`
	Findings []diagnosis.Finding `json:"findings"`
	Job      string              `json:"job,omitempty"`    // that failed last
	Output   []string            `json:"output,omitempty"` // the end of its log
}

// shownFindings are findings as a page shows them.
func (s *source) shownFindings(list []diagnosis.Finding, zone *time.Location) []diagnosis.Finding {
	shown := []diagnosis.Finding{}
	for _, f := range list {
		f.Text = show.Shorten(show.Printable(s.mask.Line(show.Local(f.Text, s.now(), zone))), 500)
		shown = append(shown, f)
	}
	return shown
}

func (s *server) why(ctx context.Context, id string, zone *time.Location) (whyView, error) {
	facts, err := diagnosis.Read(ctx, s.db, s.queues, id)
	if err != nil {
		return whyView{}, err
	}
	findings := facts.Findings()
	d := whyView{Verdict: facts.Verdict(findings), Findings: s.shownFindings(findings, zone)}
	if facts.Failed != nil {
		d.Job = facts.Failed.JID
		for _, line := range facts.Output {
			d.Output = append(d.Output, show.Shorten(show.Printable(s.mask.Line(line)), 500))
		}
	}
	return d, nil
}
