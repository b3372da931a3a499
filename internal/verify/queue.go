package verify

import (
	"context"

	"github.com/nextrun/nextrun/internal/foreign"
)

// queue compares the jobs in the tables of another queue with the ticks that were submitted
// to it.
func (r *run) queue(ctx context.Context, check, sink string, queue foreign.Auditor) error {
	audit, err := queue.Audit(ctx, sink, foreign.AuditBounds{Since: r.o.Since, Most: r.o.Most + 1})
	if err != nil {
		return err
	}
	for _, f := range []struct {
		Finding
		rows []foreign.AuditRow
	}{
		{Finding{Level: Violation, Guarantee: "G1", Text: "a tick has more than one job in the queue",
			Remedy: "find out who adds jobs that say they are nextrun's, such as copies made by hand; delete those that nobody wants"}, audit.Twice},
		{Finding{Level: Violation, Guarantee: "G3", Text: "a task that must not overlap has more than one job in the queue that has not ended",
			Remedy: "if somebody has put a job back that had ended, nothing; else cancel the jobs but one, and find out who deletes rows of periodic_open"}, audit.Overlaps},
		{Finding{Level: Doubt, Guarantee: "G2", Text: "a tick says submitted, but the queue has no such job",
			Remedy: "nothing, if the queue deletes jobs that have ended so soon; else run the tasks again: nextrun task run ID"}, audit.Gone},
	} {
		if len(f.rows) == 0 {
			continue
		}
		f.Check = check
		for _, row := range f.rows {
			f.Rows = append(f.Rows, Row{row.TaskID, row.More})
		}
		r.found(f.Finding)
	}
	return nil
}
