package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// update is Update with a short wait for locked rows; brief makes it even shorter. It marks errors about single rows: to
// hold up their topic is safe, since that counts no attempt and loses no event.
func (s Outbox) update(ctx context.Context, brief bool, fn func(*Tx) error) error {
	err := s.db.UpdateWithin(ctx, sqldb.LockWait(brief), fn)
	if err == nil {
		return nil
	}
	switch fault := sqldb.FaultOf(err); {
	case errors.Is(err, relay.ErrLeaseLost), fault == service.FaultDatabase:
		return err
	case fault == service.FaultLock:
		return &relay.RowError{Err: fmt.Errorf("%w; end the transaction that holds the lock, see pg_stat_activity and pg_blocking_pids", err)}
	}
	return &relay.RowError{Err: fmt.Errorf("%w; repair or delete the row, or change the constraint or trigger that refuses it", err)}
}

// Settle implements [relay.Source].
func (s Outbox) Settle(ctx context.Context, settled relay.Settlement) (next *relay.Batch, err error) {
	err = s.update(ctx, settled.Brief, func(tx *Tx) error {
		if err := tx.settleLease(ctx, settled); err != nil {
			return err
		}
		if err := tx.markPublished(ctx, settled.Accepted); err != nil {
			return err
		}
		if err := tx.markFailed(ctx, settled.Failed); err != nil || settled.After != relay.NextBatch {
			return err
		}
		next, err = tx.nextBatch(ctx, settled.Lease, settled.Terms)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("settle messages of topic %q: %w", settled.Lease.Topic, err)
	}
	return next, nil
}

// Consume implements [relay.Source].
func (s Outbox) Consume(ctx context.Context, l relay.Lease, t relay.Terms, i relay.Item, fn outbox.Consumer) error {
	var failed error
	err := s.update(ctx, false, func(tx *Tx) error {
		if err := tx.settleLease(ctx, relay.Settlement{Lease: l, After: relay.KeepLease, Terms: t}); err != nil {
			return err
		}
		failed = service.Guard(func() error { return fn(ctx, tx.DBTX(), i.Event) })
		if failed != nil {
			return failed
		}
		return tx.markPublished(ctx, []relay.Item{i})
	})
	if failed != nil {
		return &relay.RowError{Err: failed}
	}
	return err
}

// settleLease renews a lease or gives it back, or returns [relay.ErrLeaseLost].
func (tx *Tx) settleLease(ctx context.Context, s relay.Settlement) error {
	l := s.Lease
	var held bool
	var err error
	if s.After == relay.GiveBack {
		held, err = tx.giveBack(ctx, l)
	} else {
		var n int64
		n, err = tx.Exec(ctx, `UPDATE scheduler_lock SET heartbeat = $4, expires = $5 WHERE name = `+leaseOf+`$1 AND holder = $2 AND token = $3`,
			l.Topic, l.Holder, l.Token, sqldb.Timestamp(tx.Now()), sqldb.Timestamp(tx.Now().Add(s.Terms.Lease)))
		held = n > 0
	}
	if err == nil && !held {
		err = relay.ErrLeaseLost
	}
	return err
}

// markPublished finds the messages by their primary key alone: the holder of the
// topic knows that they are pending. With a condition for that, PostgreSQL might
// read the whole backlog if its statistics do not know of one.
func (tx *Tx) markPublished(ctx context.Context, items []relay.Item) error {
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

func (tx *Tx) markFailed(ctx context.Context, f *relay.Failure) error {
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
