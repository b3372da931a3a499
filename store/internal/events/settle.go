package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
)

// update is Update with a short wait for locked rows. It marks errors about single rows: to
// hold up their topic is safe, since that counts no attempt and loses no event.
func (s Outbox) update(ctx context.Context, wait time.Duration, fn func(*sqldb.Tx) error) error {
	err := s.db.UpdateWithin(ctx, wait, fn)
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
	l := settled.Lease
	err = s.update(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) error {
		hold := func() error { return giveBack(ctx, tx, l) }
		if settled.Next {
			hold = func() error { return renew(ctx, tx, l, settled.Terms.Lease) }
		}
		if err := hold(); err != nil {
			return err
		}
		if err := markPublished(ctx, tx, settled.Accepted); err != nil {
			return err
		}
		if err := markFailed(ctx, tx, settled.Failed); err != nil || !settled.Next {
			return err
		}
		next, err = nextBatch(ctx, tx, l, settled.Terms)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("settle messages of topic %q: %w", l.Topic, err)
	}
	return next, nil
}

// Consume implements [relay.Source].
func (s Outbox) Consume(ctx context.Context, l relay.Lease, t relay.Terms, i relay.Item, fn outbox.Consumer) error {
	var failed error
	err := s.update(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) error {
		if err := renew(ctx, tx, l, t.Lease); err != nil {
			return err
		}
		failed = service.Guard(func() error { return fn(ctx, tx.DBTX(), i.Event) })
		if failed != nil {
			return failed
		}
		return markPublished(ctx, tx, []relay.Item{i})
	})
	if failed != nil {
		return &relay.RowError{Err: failed}
	}
	return err
}

// markPublished finds the messages by their primary key alone: the holder of the
// topic knows that they are pending. With a condition for that, PostgreSQL might
// read the whole backlog if its statistics do not know of one.
func markPublished(ctx context.Context, tx *sqldb.Tx, items []relay.Item) error {
	if len(items) == 0 {
		return nil
	}
	r := tx.DB().Records(1, []sqldb.Field{sqldb.Int("value")}, len(items), func(i int) []any { return []any{items[i].Message} })
	_, err := tx.Exec(ctx, `UPDATE outbox_message SET published = $2, problem = NULL, retry = NULL
		WHERE id IN (SELECT value FROM `+r.SQL+` AS v)`, r.Param, sqldb.Timestamp(tx.Now()))
	return err
}

func markFailed(ctx context.Context, tx *sqldb.Tx, f *relay.Failure) error {
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
