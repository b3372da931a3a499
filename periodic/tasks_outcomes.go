package periodic

import (
	"context"
	"fmt"
	"maps"

	"github.com/nextrun/nextrun/periodic/sink"
)

// Outcomes returns what became of tasks last, by their ids. Tasks without a tick are
// not among them.
func (s *Tasks) Outcomes(ctx context.Context, filter TaskFilter) (map[string]Outcome, error) {
	var found map[string]Outcome
	err := s.store.View(ctx, func(tx TaskTx) (err error) {
		found, err = tx.Outcomes(ctx, filter)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the outcomes of tasks: %w", err)
	}
	return found, nil
}

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

// Results returns what became of the jobs and events of ticks, by their ids. Those of which
// nextrun's own tables do not tell are not among them.
func (s *Tasks) Results(ctx context.Context, ticks []Tick) (map[string]Result, error) {
	var jids []string
	found := map[string]Result{}
	for _, k := range ticks {
		if k.Ended != "" {
			found[k.JID] = k.Result()
		} else if k.JID != "" {
			jids = append(jids, k.JID)
		}
	}
	if len(jids) == 0 {
		return found, nil
	}
	err := s.store.View(ctx, func(tx TaskTx) error {
		own, err := tx.Results(ctx, jids)
		maps.Copy(found, own)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the results of ticks: %w", err)
	}
	return found, nil
}
