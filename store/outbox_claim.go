package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Claim implements [outbox.Source].
func (s OutboxStore) Claim(ctx context.Context, c outbox.Claim) (outbox.Claimed, error) {
	claimed, err := s.db.claimTopics(ctx, c, pendingTopics, acquireMessages)
	if err != nil {
		return claimed, fmt.Errorf("claim topics of the outbox: %w", err)
	}
	return claimed, nil
}

// topicRow is a topic with something to do, and who holds it.
type topicRow struct {
	Topic   string
	Retry   Timestamp // of the message whose turn it is
	Holder  *string
	Expires Timestamp
	Stopped bool
}

// acquire takes the leases of topics, as far as they can be had, and returns
// their first batches.
type acquire func(ctx context.Context, tx *Tx, c outbox.Claim, topics []string) ([]outbox.Batch, error)

// claimTopics looks for topics with something to do, without writing, and
// acquires those that can be had.
func (db *DB) claimTopics(ctx context.Context, c outbox.Claim,
	list func(context.Context, *Tx) ([]topicRow, error), take acquire) (outbox.Claimed, error) {
	claimed := outbox.Claimed{Next: -1}
	topics := c.Among
	if topics == nil {
		if err := db.View(ctx, func(tx *Tx) error {
			rows, err := list(ctx, tx)
			topics, claimed.Next = choose(rows, c, tx.now)
			return err
		}); err != nil || len(topics) == 0 {
			return claimed, err
		}
		n := min(c.Count, len(topics))
		topics, claimed.Ready = topics[:n], topics[n:]
	}
	err := passOver(topics, func(topics []string) error {
		var batches []outbox.Batch
		err := db.updateBriefly(ctx, func(tx *Tx) (err error) {
			batches, err = take(ctx, tx, c, topics)
			return err
		})
		if err == nil {
			claimed.Batches = append(claimed.Batches, batches...)
		}
		return err
	})
	if len(claimed.Batches) < len(topics) {
		claimed.Next = soon(claimed.Next)
	}
	return claimed, err
}

// passOver tries all topics at once, or, if somebody has a row locked that try
// had to wait for, each by itself, and passes over those with such a row.
func passOver(topics []string, try func(topics []string) error) error {
	err := try(topics)
	switch {
	case !errors.Is(err, ErrContended):
		return err
	case len(topics) == 1:
		return nil
	}
	for i := range topics {
		if err := passOver(topics[i:i+1], try); err != nil {
			return err
		}
	}
	return nil
}

// lockedPause is how soon topics that somebody else was just acquiring are
// looked at again.
const lockedPause = 100 * time.Millisecond

// soon is lockedPause, or the time until the next look if that is shorter.
func soon(next time.Duration) time.Duration {
	if next < 0 {
		return lockedPause
	}
	return min(next, lockedPause)
}

// choose returns the topics that could be acquired, least recently served first,
// and the time until another one may be ready; negative if there is none.
func choose(rows []topicRow, c outbox.Claim, now time.Time) (topics []string, next time.Duration) {
	next = -1
	slices.SortStableFunc(rows, func(a, b topicRow) int {
		return cmp.Or(a.Expires.Time().Compare(b.Expires.Time()), cmp.Compare(a.Topic, b.Topic))
	})
	for _, r := range rows {
		if r.Stopped || c.Topics != nil && !slices.Contains(c.Topics, r.Topic) || slices.Contains(c.Except, r.Topic) {
			continue
		}
		ready := r.Retry.Time()
		// A lease of the own that is not in hand was taken by a claim that
		// seemed to fail. One of nobody was given back; that a clock which was
		// set back since is behind its end means nothing.
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
	err := tx.list(ctx, &rows, `WITH RECURSIVE p (topic) AS (
			SELECT min(topic) FROM outbox_message WHERE `+isPending+`
			UNION ALL
			SELECT (SELECT min(topic) FROM outbox_message WHERE `+isPending+` AND topic > p.topic)
			FROM p WHERE p.topic IS NOT NULL)
		SELECT p.topic,
			(SELECT retry FROM outbox_message WHERE `+isPending+` AND topic = p.topic ORDER BY id LIMIT 1) AS retry,
			t.holder, t.expires, `+isStopped+` AS stopped
		FROM p LEFT JOIN outbox_topic AS t ON t.topic = p.topic WHERE p.topic IS NOT NULL`)
	return rows, err
}

// isStopped is true of a topic t whose dead message holds up the others.
const isStopped = `(coalesce(t.strict, false) AND EXISTS (
	SELECT 1 FROM outbox_message AS d WHERE d.topic = t.topic AND d.dead IS NOT NULL))`

// acquireMessages is the [acquire] of the outbox.
func acquireMessages(ctx context.Context, tx *Tx, c outbox.Claim, topics []string) ([]outbox.Batch, error) {
	r, err := tx.texts(1, topics)
	if err != nil {
		return nil, err
	}
	if _, err := tx.exec(ctx, `INSERT INTO outbox_topic (topic) SELECT value FROM `+r.sql+` AS v
		WHERE NOT EXISTS (SELECT 1 FROM outbox_topic WHERE topic = value) ORDER BY value
		ON CONFLICT DO NOTHING`, r.param); err != nil {
		return nil, err
	}
	var leases []leaseRow
	err = tx.list(ctx, &leases, `UPDATE outbox_topic SET holder = $2, token = token + 1, expires = $3 WHERE topic IN (
			SELECT t.topic FROM outbox_topic AS t WHERE t.topic IN (SELECT value FROM `+r.sql+` AS v)
				AND (t.expires IS NULL OR t.expires <= $4 OR t.holder IS NULL OR t.holder = $2) AND NOT `+isStopped+
		tx.db.dialect.lockRows()+`) RETURNING topic, token`,
		r.param, c.Holder, Timestamp(tx.now.Add(c.Lease)), Timestamp(tx.now))
	if err != nil {
		return nil, err
	}
	var batches []outbox.Batch
	for _, l := range leases {
		b, err := tx.nextMessages(ctx, outbox.Lease{Topic: l.Topic, Holder: c.Holder, Token: l.Token}, c.Terms)
		if err != nil {
			return nil, err
		}
		if b != nil {
			batches = append(batches, *b)
		}
	}
	return batches, nil
}

// itemRow is a message with its event.
type itemRow struct {
	eventRow
	Retry    Timestamp
	Attempts int
	Refusals int
}

// nextMessages returns the first messages to publish of a topic that is held.
// If there are none it gives the lease back.
func (tx *Tx) nextMessages(ctx context.Context, lease outbox.Lease, terms outbox.Terms) (*outbox.Batch, error) {
	var rows []itemRow
	err := tx.list(ctx, &rows, `WITH head AS (
			SELECT id AS message_id, event_id, retry, attempts, refusals FROM outbox_message
			WHERE `+isPending+` AND topic = $1 ORDER BY id LIMIT $2),
		sized AS (
			SELECT `+eventColumns+`, message_id, retry, attempts, refusals,
				sum(octet_length(e.payload)) OVER w AS bytes, row_number() OVER w AS n
			FROM head JOIN event_store AS e ON e.id = event_id
			WINDOW w AS (ORDER BY message_id ROWS UNBOUNDED PRECEDING))
		SELECT `+eventColumns+`, retry, attempts, refusals
		FROM sized AS e WHERE n = 1 OR bytes <= $3 ORDER BY message_id`, lease.Topic, terms.Limit, terms.Bytes)
	if err != nil {
		return nil, err
	}
	b := &outbox.Batch{Lease: lease}
	for _, r := range rows {
		if r.Retry.Time().After(tx.now) {
			break
		}
		b.Items = append(b.Items, outbox.Item{Event: r.event(), Attempts: r.Attempts, Refusals: r.Refusals})
	}
	if len(b.Items) > 0 {
		return b, nil
	}
	_, err = tx.exec(ctx, `UPDATE outbox_topic SET holder = NULL, expires = $4
		WHERE topic = $1 AND holder = $2 AND token = $3`, lease.Topic, lease.Holder, lease.Token, Timestamp(tx.now))
	return nil, err
}
