package events

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// A trigger or a policy of the user's may skip an update or undo it without an
// error. The message would then be published again at once, and again, without
// end. So each settlement checks what the database has stored.

// checkRecorded reads back the messages of a settlement, which costs a
// statement. It returns an error about the first one that is still to be
// published at once.
func (tx *Tx) checkRecorded(ctx context.Context, s outboxdb.Settlement) error {
	ids := make([]int64, 0, len(s.Accepted)+1)
	for _, i := range s.Accepted {
		ids = append(ids, i.Message)
	}
	failed := int64(0)
	if s.Failed != nil {
		failed = s.Failed.Item.Message
		ids = append(ids, failed)
	}
	if len(ids) == 0 {
		return nil
	}
	r, err := tx.DB().Records(1, []sqldb.Field{sqldb.Int("value")}, len(ids), func(i int) []any { return []any{ids[i]} })
	if err != nil {
		return err
	}
	var stored []struct {
		ID      int64
		Pending sqldb.RowBool
		Retry   sqldb.RowTime
	}
	if err := tx.Select(ctx, &stored, `SELECT id, (`+isPending+`) AS pending, retry FROM outbox_message
		WHERE id IN (SELECT value FROM `+r.SQL+` AS v) ORDER BY id`, r.Param); err != nil {
		return err
	}
	for _, m := range stored {
		switch {
		case !bool(m.Pending):
		case m.ID != failed:
			return notRecorded(m.ID, "was published")
		case s.Failed.Dead:
			return notRecorded(m.ID, "is dead")
		case !m.Retry.Time().After(tx.Now()):
			return notRecorded(m.ID, "failed and is to be tried again later")
		}
	}
	return nil
}

// checkNext checks for free what checkRecorded checks, when all messages were
// accepted and the next batch has been read: no message may come a second time.
func checkNext(accepted []outboxdb.Item, next *outboxdb.Batch) error {
	if next == nil {
		return nil
	}
	published := make(map[int64]bool, len(accepted))
	for _, i := range accepted {
		published[i.Message] = true
	}
	for _, i := range next.Items {
		if published[i.Message] {
			return notRecorded(i.Message, "was published")
		}
	}
	return nil
}

func notRecorded(message int64, what string) error {
	return fmt.Errorf("the database did not record that message %d of outbox_message %s: "+
		"a trigger or a policy skips the update or undoes it", message, what)
}
