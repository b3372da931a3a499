package periodic

import (
	"context"

	"github.com/nextrun/nextrun/periodic/sink"
)

// Attempts asks the queue of a task's newest job that is not known to have ended how often it was
// tried and what its worker said, or returns nil: there is none, or its queue does not tell. It
// needs the queue; see [Tasks.With].
func (s *Tasks) Attempts(ctx context.Context, id string) (*sink.JobEnd, error) {
	var found *sink.JobEnd
	err := s.store.View(ctx, func(tx TaskTx) error {
		queue, job, err := tx.Awaited(ctx, id)
		teller, tells := s.queues[queue].(sink.EndTeller)
		if err != nil || !tells {
			return err
		}
		bare, _ := tx.Bare()
		ends, err := teller.Ends(ctx, bare, []sink.Open{job})
		if len(ends) > 0 {
			found = &ends[0]
		}
		return err
	})
	return found, about(id, err)
}
