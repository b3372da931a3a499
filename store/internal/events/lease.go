package events

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/store/internal/locks"
)

// leaseOf is in front of a topic in the name of its lease: a row of scheduler_lock while somebody holds it.
const leaseOf = "topic:"

// fence is a lease as the lock that it is.
func fence(l relay.Lease) leader.Fence {
	return leader.Fence{Lock: leaseOf + l.Topic, Holder: l.Holder, Token: l.Token}
}

// listWait bounds the wait for a locked table, so that a stop is not delayed by much.
const listWait = time.Second

// maxBatchBytes is the maximum payload of a batch of more than one event.
const maxBatchBytes = 8 << 20

// topicRow is a topic with something to do, and who holds it.
type topicRow struct {
	Topic   string
	First   int64         // the message whose turn it is
	Retry   sqldb.RowTime // of that one
	Holder  *string       // nil: nobody
	Expires sqldb.RowTime
}

// wait is how long it is until a holder may lease the topic.
func (r topicRow) wait(holder string, now time.Time) time.Duration {
	ready := r.Retry.Time()
	if r.Holder != nil && *r.Holder != holder && r.Expires.Time().After(ready) { // our own lease: a reply was lost
		ready = r.Expires.Time()
	}
	return max(ready.Sub(now), 0)
}

// Topics implements [relay.Source].
func (s Outbox) Topics(ctx context.Context, holder string, only []string) (list []relay.Topic, err error) {
	err = s.db.ViewWithin(ctx, listWait, func(tx *sqldb.Tx) error {
		rows, err := pendingTopics(ctx, tx)
		slices.SortStableFunc(rows, func(a, b topicRow) int { return cmp.Compare(a.First, b.First) })
		for _, r := range rows {
			if only == nil || slices.Contains(only, r.Topic) {
				list = append(list, relay.Topic{Name: r.Topic, Wait: r.wait(holder, tx.Now())})
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the topics of the outbox: %w", err)
	}
	return list, nil
}

// pendingTopics lists the topics with messages to publish: it skips along the
// index from one topic to the next (a loose index scan), so that it never reads
// a backlog.
func pendingTopics(ctx context.Context, tx *sqldb.Tx) ([]topicRow, error) {
	var rows []topicRow
	err := tx.Select(ctx, &rows, `WITH RECURSIVE p (topic) AS (
			SELECT min(topic) FROM outbox_message WHERE `+isPending+`
			UNION ALL
			SELECT (SELECT min(topic) FROM outbox_message WHERE `+isPending+` AND topic > p.topic)
			FROM p WHERE p.topic IS NOT NULL)
		SELECT p.topic,
			(SELECT id FROM outbox_message WHERE `+isPending+` AND topic = p.topic ORDER BY id LIMIT 1) AS first,
			(SELECT retry FROM outbox_message WHERE `+isPending+` AND topic = p.topic ORDER BY id LIMIT 1) AS retry,
			l.holder, l.expires
		FROM p LEFT JOIN scheduler_lock AS l ON l.name = '`+leaseOf+`' || p.topic WHERE p.topic IS NOT NULL`)
	return rows, err
}

// Lease implements [relay.Source].
func (s Outbox) Lease(ctx context.Context, holder, topic string, terms relay.Terms) (batch *relay.Batch, err error) {
	err = s.update(ctx, sqldb.BriefLockWait, func(tx *sqldb.Tx) (err error) {
		batch, err = lease(ctx, tx, holder, topic, terms)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lease topic %q: %w", topic, err)
	}
	return batch, nil
}

// lease takes the lease of a topic, unless somebody else holds it, and returns its first batch.
func lease(ctx context.Context, tx *sqldb.Tx, holder, topic string, terms relay.Terms) (*relay.Batch, error) {
	lease := relay.Lease{Topic: topic, Holder: holder, Token: rand.Int64N(1 << 53)}
	taken, err := locks.Take(ctx, tx, leader.Claim{Fence: fence(lease), TTL: terms.Lease})
	if err != nil || !taken {
		return nil, err
	}
	b, err := nextBatch(ctx, tx, lease, terms)
	if err == nil && b != nil && terms.Careful {
		if _, err = tx.Exec(ctx, `UPDATE outbox_message SET published = NULL WHERE id = $1`, b.Items[0].Message); err != nil {
			err = fmt.Errorf("event %q cannot be recorded: %w", b.Items[0].ID, err)
		}
	}
	return b, err
}

// itemRow is a message with its event, or without.
type itemRow struct {
	eventRow
	Message  int64
	Missing  bool // there is no such event
	Retry    sqldb.RowTime
	Attempts sqldb.RowInt
	Refusals sqldb.RowInt
}

func (r itemRow) item() relay.Item {
	i := relay.Item{Event: r.event(), Message: r.Message, Attempts: r.Attempts.N, Refusals: r.Refusals.N}
	if r.Missing {
		i.Problem = fmt.Sprintf("event %q is missing from event_store; "+
			"delete its message: DELETE FROM outbox_message WHERE id = %d", r.ID, r.Message)
	} else {
		i.Problem = r.unreadable()
	}
	return i
}

// nextBatch returns the first messages to publish of a topic that is held.
// If there are none it gives the lease back.
func nextBatch(ctx context.Context, tx *sqldb.Tx, lease relay.Lease, terms relay.Terms) (*relay.Batch, error) {
	var rows []itemRow
	err := tx.Select(ctx, &rows, `WITH head AS (
			SELECT id AS message, event_id, retry, attempts, refusals FROM outbox_message
			WHERE `+isPending+` AND topic = $1 ORDER BY id LIMIT $2),
		sized AS (
			SELECT head.*, sum(coalesce(octet_length(e.payload), 0)) OVER w AS bytes, row_number() OVER w AS n
			FROM head LEFT JOIN event_store AS e ON e.id = event_id
			WINDOW w AS (ORDER BY message ROWS UNBOUNDED PRECEDING))
		SELECT message, retry, attempts, refusals, e.id IS NULL AS missing, event_id AS id, coalesce(e.topic, $1) AS topic,
			coalesce(e.type, '') AS type, coalesce(e.aggregate_id, '') AS aggregate_id, e.aggregate_version,
			coalesce(e.payload, '') AS payload, e.due, e.created, e.traceparent
		FROM sized LEFT JOIN event_store AS e ON e.id = event_id
		WHERE n = 1 OR bytes <= $3 ORDER BY message`, lease.Topic, terms.Limit, maxBatchBytes)
	if err != nil {
		return nil, err
	}
	b := &relay.Batch{Lease: lease}
	for _, r := range rows {
		if r.Retry.Time().After(tx.Now()) {
			break
		}
		b.Items = append(b.Items, r.item())
	}
	if len(b.Items) > 0 {
		return b, nil
	}
	return nil, giveBack(ctx, tx, lease)
}

// giveBack ends a lease, or returns [relay.ErrLeaseLost].
func giveBack(ctx context.Context, tx *sqldb.Tx, l relay.Lease) error {
	return held(locks.Release(ctx, tx, fence(l)))
}

// renew prolongs a lease, or returns [relay.ErrLeaseLost].
func renew(ctx context.Context, tx *sqldb.Tx, l relay.Lease, by time.Duration) error {
	return held(locks.Renew(ctx, tx, fence(l), by))
}

func held(was bool, err error) error {
	if err == nil && !was {
		return relay.ErrLeaseLost
	}
	return err
}
