package periodic

import (
	"context"
	"fmt"
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

// Results returns what became of the jobs and events of ticks, by their ids. Those
// that nextrun's own tables do not have are not among them.
func (s *Tasks) Results(ctx context.Context, ticks []Tick) (map[string]Result, error) {
	var jids []string
	for _, k := range ticks {
		if k.JID != "" {
			jids = append(jids, k.JID)
		}
	}
	if len(jids) == 0 {
		return map[string]Result{}, nil
	}
	var found map[string]Result
	err := s.store.View(ctx, func(tx TaskTx) (err error) {
		found, err = tx.Results(ctx, jids)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the results of ticks: %w", err)
	}
	return found, nil
}
