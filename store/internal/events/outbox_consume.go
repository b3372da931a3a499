package events

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Consume implements [outboxdb.Source].
func (s Outbox) Consume(ctx context.Context, l outboxdb.Lease, t outboxdb.Terms, i outboxdb.Item, fn outbox.Consumer) error {
	var failed error
	err := s.db.Update(ctx, func(tx *Tx) error {
		settled := outboxdb.Settlement{Lease: l, Accepted: []outboxdb.Item{i}, After: outboxdb.KeepLease, Terms: t}
		if err := tx.settleLease(ctx, settled); err != nil {
			return err
		}
		failed = service.Guard(func() error { return fn(ctx, tx.DBTX(), i.Event) })
		if failed != nil {
			return failed
		}
		if err := tx.markPublished(ctx, settled.Accepted); err != nil {
			return err
		}
		return tx.checkRecorded(ctx, settled)
	})
	switch {
	case err == nil:
		return nil
	case failed != nil, topicCause(err) != isolate.Database:
		return &outboxdb.ConsumeError{Err: err}
	}
	return fmt.Errorf("consume an event of topic %q: %w", l.Topic, err)
}
