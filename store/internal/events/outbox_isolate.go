package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// searchBudget bounds the search for the topics or messages that made a transaction
// of the outbox fail.
const searchBudget = time.Second

// updateOutbox is Update with a short wait for locked rows; brief makes it even
// shorter.
func (db *DB) updateOutbox(ctx context.Context, brief bool, fn func(*Tx) error) error {
	return db.UpdateWithin(ctx, sqldb.LockWait(brief), fn)
}

// viewOutbox is View with a short wait for a locked table, so that a stop is not
// delayed by much.
func (db *DB) viewOutbox(ctx context.Context, fn func(*Tx) error) error {
	return db.ViewWithin(ctx, time.Second, fn)
}

// topicCause says what an error means for the topics of a transaction. An unknown
// error may come from one row, such as an error of a user's trigger. To hold up its
// topic is safe: that counts no attempt and loses no event.
func topicCause(err error) isolate.Cause {
	switch {
	case errors.Is(err, sqldb.ErrContended):
		return isolate.Contended
	case errors.Is(err, sqldb.ErrBusy), errors.Is(err, sqldb.ErrUnavailable), errors.Is(err, outboxdb.ErrLeaseLost),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return isolate.Database
	}
	return isolate.Row
}

// remedies say what to do about a topic that is held up.
var remedies = map[isolate.Cause]string{
	isolate.Contended: "end the transaction that holds the lock, see pg_stat_activity and pg_blocking_pids",
	isolate.Row:       "repair or delete the row, or change the constraint or trigger that refuses it",
}

// eachTopic does the work for all topics at once. If that fails, it finds the topics
// that fail alone, returns why each of them is held up, and does the work for the
// others. An error concerns all topics that were not done.
func (db *DB) eachTopic(ctx context.Context, topics []string, brief bool,
	work func(ctx context.Context, tx *Tx, topics []string) error, done func()) ([]outboxdb.HeldUp, error) {
	try := func(ctx context.Context, topics []string, brief bool) error {
		err := db.updateOutbox(ctx, brief, func(tx *Tx) error { return work(ctx, tx, topics) })
		if err == nil {
			done()
		} else if len(topics) == 1 {
			err = fmt.Errorf("topic %q: %w", topics[0], err)
		}
		return err
	}
	err := try(ctx, topics, brief)
	if err == nil {
		return nil, nil
	}
	found := isolate.Bisect(ctx, topics, err, isolate.Search[string]{Try: try, Judge: topicCause, Budget: searchBudget})
	var held []outboxdb.HeldUp
	for _, c := range found.Culprits {
		held = append(held, heldUp(c.Item, c.Cause, c.Err))
	}
	return held, found.Err
}

func heldUp(topic string, cause isolate.Cause, err error) outboxdb.HeldUp {
	return outboxdb.HeldUp{Topic: topic, Locked: cause == isolate.Contended, Err: fmt.Errorf("%w; %s", err, remedies[cause])}
}
