package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// Claim implements [outboxdb.Source].
func (s Outbox) Claim(ctx context.Context, c outboxdb.Claim) (outboxdb.Claimed, error) {
	claimed, err := s.db.claimTopics(ctx, c, pendingTopics)
	if err != nil {
		return claimed, fmt.Errorf("claim topics of the outbox: %w", err)
	}
	return claimed, nil
}

// topicRow is a topic with something to do, and who holds it.
type topicRow struct {
	Topic   string
	First   int64         // the message whose turn it is
	Retry   sqldb.RowTime // of that one
	Holder  *string       // nil: nobody
	Expires sqldb.RowTime
}

// topicsToTake lists the topics with something to do, and which of their relays have ended.
// It notes in claimed what is left for later.
func (db *DB) topicsToTake(ctx context.Context, c outboxdb.Claim, list func(context.Context, *Tx) ([]topicRow, error),
	claimed *outboxdb.Claimed,
) (topics, ended []string, err error) {
	var rows []topicRow
	var now time.Time
	err = db.viewOutbox(ctx, func(tx *Tx) (err error) {
		now = tx.Now()
		rows, err = list(ctx, tx)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	topics, claimed.Next = readyTopics(withoutEnded(rows, ended), c, now)
	n := min(c.Count, len(topics))
	topics, claimed.Ready = topics[:n], topics[n:]
	return topics, ended, nil
}

// claimTopics lists the topics with something to do, without writing, and
// acquires as many as c asks for.
func (db *DB) claimTopics(ctx context.Context, c outboxdb.Claim,
	list func(context.Context, *Tx) ([]topicRow, error),
) (outboxdb.Claimed, error) {
	claimed := outboxdb.Claimed{Next: -1}
	topics, ended := c.Among, c.Ended
	if topics == nil {
		var err error
		topics, ended, err = db.topicsToTake(ctx, c, list, &claimed)
		if claimed.Ended = ended; err != nil || len(topics) == 0 {
			return claimed, err
		}
	}
	var batches []outboxdb.Batch
	var locked []outboxdb.HeldUp
	held, err := db.eachTopic(ctx, topics, c.Alone,
		func(ctx context.Context, tx *Tx, topics []string) (err error) {
			batches, locked, err = acquireMessages(ctx, tx, c, topics, ended)
			return err
		},
		func() {
			claimed.Batches = append(claimed.Batches, batches...)
			claimed.Held = append(claimed.Held, locked...)
		})
	claimed.Held = append(claimed.Held, held...)
	if len(claimed.Batches) > 0 || len(claimed.Held) > 0 {
		err = nil // what is left is claimed the next time
	}
	if len(claimed.Batches)+len(claimed.Held) < len(topics) {
		claimed.Next = soon(claimed.Next)
	}
	return claimed, err
}

// withoutEnded returns the rows without the leases of holders that have ended.
func withoutEnded(rows []topicRow, ended []string) []topicRow {
	for i, r := range rows {
		if r.Holder != nil && slices.Contains(ended, *r.Holder) {
			rows[i].Holder, rows[i].Expires = nil, sqldb.RowTime{}
		}
	}
	return rows
}

// lockedPause is when to look again at topics that another relay acquired
// meanwhile.
const lockedPause = 100 * time.Millisecond

// soon is lockedPause, or next if that is sooner.
func soon(next time.Duration) time.Duration {
	if next < 0 {
		return lockedPause
	}
	return min(next, lockedPause)
}

// readyTopics returns the topics that could be acquired, the one with the oldest message first,
// and the time until another one may be ready; negative if there is none.
func readyTopics(rows []topicRow, c outboxdb.Claim, now time.Time) (topics []string, next time.Duration) {
	next = -1
	slices.SortStableFunc(rows, func(a, b topicRow) int {
		return cmp.Compare(a.First, b.First)
	})
	for _, r := range rows {
		if slices.Contains(c.Held, r.Topic) || c.Topics != nil && !slices.Contains(c.Topics, r.Topic) || slices.Contains(c.Except, r.Topic) {
			continue
		}
		ready := r.Retry.Time()
		// If we hold the lease but do not work on the topic, the reply of a claim
		// was lost.
		free := r.Holder == nil || *r.Holder == c.Holder
		if !free && r.Expires.Time().After(ready) {
			ready = r.Expires.Time()
		}
		switch wait := ready.Sub(now); {
		case !ready.After(now):
			topics = append(topics, r.Topic)
		case next < 0 || wait < next:
			next = wait
		}
	}
	return topics, next
}

// pendingTopics lists the topics with messages to publish: it skips along the
// index from one topic to the next (a loose index scan), so that it never reads
// a backlog.
func pendingTopics(ctx context.Context, tx *Tx) ([]topicRow, error) {
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
		FROM p LEFT JOIN scheduler_lock AS l ON l.name = `+leaseOf+`p.topic WHERE p.topic IS NOT NULL`)
	return rows, err
}
