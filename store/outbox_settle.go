package store

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Settle implements [outbox.Source].
func (s OutboxStore) Settle(ctx context.Context, settled outbox.Settlement) (next *outbox.Batch, err error) {
	err = s.db.Update(ctx, func(tx *Tx) error {
		l := settled.Lease
		holder, until := tx.renewed(settled)
		held, err := tx.exec(ctx, `UPDATE outbox_topic SET holder = $4, expires = $5
			WHERE topic = $1 AND coalesce(holder, $2) = $2 AND token = $3`, l.Topic, l.Holder, l.Token, holder, until)
		if err != nil {
			return err
		}
		if held == 0 {
			return outbox.ErrLeaseLost
		}
		if err := tx.markPublished(ctx, settled.Accepted); err != nil {
			return err
		}
		if err := tx.markFailed(ctx, settled.Failed); err != nil {
			return err
		}
		if settled.More {
			next, err = tx.nextMessages(ctx, l, settled.Terms)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("settle messages of topic %q: %w", settled.Lease.Topic, err)
	}
	return next, nil
}

// renewed is who holds a lease from now on, nobody if it is given back, and
// until when. A lease that was given back can be settled once more, as long as
// the token is the same: the first time may only have seemed to fail.
func (tx *Tx) renewed(s outbox.Settlement) (holder any, until Timestamp) {
	if s.More {
		return s.Lease.Holder, Timestamp(tx.now.Add(s.Terms.Lease))
	}
	return nil, Timestamp(tx.now)
}

// markPublished finds the messages by event_id alone: who holds the topic knows
// that they are pending, and a condition that says so would tempt PostgreSQL,
// whose statistics may know of no backlog, to look through the whole of it.
func (tx *Tx) markPublished(ctx context.Context, items []outbox.Item) error {
	if len(items) == 0 {
		return nil
	}
	r, err := tx.db.newRecords(1, []field{{"value", fieldText}}, len(items), func(i int) []any { return []any{items[i].ID} })
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `UPDATE outbox_message SET published = $2, problem = NULL, retry = NULL
		WHERE event_id IN (SELECT value FROM `+r.sql+` AS v)`, r.param, Timestamp(tx.now))
	return err
}

func (tx *Tx) markFailed(ctx context.Context, f *outbox.Failure) error {
	if f == nil {
		return nil
	}
	retry, dead := Timestamp(tx.now.Add(f.Delay)), Timestamp{}
	if f.Dead {
		retry, dead = Timestamp{}, Timestamp(tx.now)
	}
	refused := 0
	if f.Refused {
		refused = 1
	}
	_, err := tx.exec(ctx, `UPDATE outbox_message SET attempts = attempts + 1, refusals = refusals + $2,
			problem = $3, retry = $4, dead = $5
		WHERE event_id = $1`, f.Item.ID, refused, f.Problem, retry, dead)
	return err
}
