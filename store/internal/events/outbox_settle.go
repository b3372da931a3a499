package events

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// Settle implements [outboxdb.Source].
func (s Outbox) Settle(ctx context.Context, settled outboxdb.Settlement) (*outboxdb.Batch, error) {
	next, err := s.settle(ctx, settled)
	if err != nil && topicCause(err) != isolate.Database {
		next, err = s.settleApart(ctx, settled, err)
	}
	if err != nil {
		return nil, fmt.Errorf("settle messages of topic %q: %w", settled.Lease.Topic, err)
	}
	return next, nil
}

// settle records a settlement, completely or not at all.
func (s Outbox) settle(ctx context.Context, settled outboxdb.Settlement) (next *outboxdb.Batch, err error) {
	err = s.db.updateOutbox(ctx, settled.Brief, func(tx *Tx) error {
		if err := tx.settleLease(ctx, settled); err != nil {
			return err
		}
		if err := tx.markPublished(ctx, settled.Accepted); err != nil {
			return err
		}
		if err := tx.markFailed(ctx, settled.Failed); err != nil {
			return err
		}
		if settled.After != outboxdb.NextBatch {
			return tx.checkRecorded(ctx, settled)
		}
		if next, err = tx.nextMessages(ctx, settled.Lease, settled.Terms); err != nil {
			return err
		}
		return checkNext(settled.Accepted, next)
	})
	return next, err
}

// leaseRowError means that the row with the topic's lease made a settlement fail.
type leaseRowError struct{ err error }

func (e *leaseRowError) Error() string { return e.err.Error() }
func (e *leaseRowError) Unwrap() error { return e.err }

// settleApart records what it can of a settlement that failed, and returns an
// [outboxdb.UnrecordedError] about the rest. It keeps the lease.
func (s Outbox) settleApart(ctx context.Context, settled outboxdb.Settlement, cause error) (*outboxdb.Batch, error) {
	rest := settled
	if lease := (*leaseRowError)(nil); errors.As(cause, &lease) {
		return nil, unrecorded(rest, topicCause(cause), cause)
	}
	messages := slices.Clone(settled.Accepted)
	if settled.Failed != nil {
		messages = append(messages, settled.Failed.Item)
	}
	part := func(items []outboxdb.Item) outboxdb.Settlement {
		p := outboxdb.Settlement{Lease: settled.Lease, Terms: settled.Terms, After: outboxdb.KeepLease}
		for _, i := range items {
			if f := settled.Failed; f != nil && f.Item.Message == i.Message {
				p.Failed = f
			} else {
				p.Accepted = append(p.Accepted, i)
			}
		}
		return p
	}
	found := isolate.Bisect(ctx, messages, cause, isolate.Search[outboxdb.Item]{
		Judge: topicCause, Budget: searchBudget,
		Try: func(ctx context.Context, items []outboxdb.Item, brief bool) error {
			p := part(items)
			p.Brief = brief
			_, err := s.settle(ctx, p)
			return err
		},
	})
	if topicCause(found.Err) == isolate.Database && found.Err != nil {
		return nil, found.Err // the caller settles all of it again; recording twice does no harm
	}
	for _, c := range found.Culprits {
		found.Left = append(found.Left, c.Item)
	}
	left := part(found.Left)
	rest.Accepted, rest.Failed = left.Accepted, left.Failed
	if len(found.Left) == 0 {
		return s.settle(ctx, rest)
	}
	if _, err := s.settle(ctx, part(nil)); errors.Is(err, outboxdb.ErrLeaseLost) { // renew the lease
		return nil, err
	}
	if len(found.Culprits) > 0 {
		cause = found.Culprits[0].Err
	}
	return nil, unrecorded(rest, topicCause(cause), cause)
}

func unrecorded(rest outboxdb.Settlement, cause isolate.Cause, err error) error {
	return &outboxdb.UnrecordedError{Rest: rest, Locked: cause == isolate.Contended, Err: fmt.Errorf("%w; %s", err, remedies[cause])}
}

// markPublished finds the messages by their primary key alone: the holder of the
// topic knows that they are pending. With a condition for that, PostgreSQL might
// read the whole backlog if its statistics do not know of one.
func (tx *Tx) markPublished(ctx context.Context, items []outboxdb.Item) error {
	if len(items) == 0 {
		return nil
	}
	r, err := tx.DB().Records(1, []sqldb.Field{sqldb.Int("value")}, len(items), func(i int) []any { return []any{items[i].Message} })
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE outbox_message SET published = $2, problem = NULL, retry = NULL
		WHERE id IN (SELECT value FROM `+r.SQL+` AS v)`, r.Param, sqldb.Timestamp(tx.Now()))
	return err
}

func (tx *Tx) markFailed(ctx context.Context, f *outboxdb.Failure) error {
	if f == nil {
		return nil
	}
	retry, dead := sqldb.Timestamp(tx.Now().Add(f.Delay)), sqldb.Timestamp{}
	if f.Dead {
		retry, dead = sqldb.Timestamp{}, sqldb.Timestamp(tx.Now())
	}
	refused := 0
	if f.Refused {
		refused = 1
	}
	_, err := tx.Exec(ctx, `UPDATE outbox_message SET
			attempts = CASE WHEN attempts < 2147483647 THEN attempts + 1 ELSE attempts END,
			refusals = CASE WHEN refusals < 2147483647 THEN refusals + $2 ELSE refusals END,
			problem = $3, retry = $4, dead = $5
		WHERE id = $1`, f.Item.Message, refused, f.Problem, retry, dead)
	return err
}
