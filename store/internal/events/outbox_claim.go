package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// Claim implements [outboxdb.Source]. It leaves the topics of hooks alone.
func (s Outbox) Claim(ctx context.Context, c outboxdb.Claim) (outboxdb.Claimed, error) {
	return s.claim(ctx, c, func(topic string) bool { return !bounds.IsHookTopic(topic) })
}

// claim is Claim among the topics that are wanted.
func (s Outbox) claim(ctx context.Context, c outboxdb.Claim, wanted func(topic string) bool) (outboxdb.Claimed, error) {
	list := func(ctx context.Context, tx *Tx) ([]topicRow, error) {
		rows, err := pendingTopics(ctx, tx)
		return slices.DeleteFunc(rows, func(r topicRow) bool { return !wanted(r.Topic) }), err
	}
	claimed, err := s.db.claimTopics(ctx, c, list, acquireMessages)
	if err != nil {
		return claimed, fmt.Errorf("claim topics of the outbox: %w", err)
	}
	return claimed, nil
}

// topicRow is a topic with something to do, and who holds it.
type topicRow struct {
	Topic   string
	Retry   sqldb.RowTime // of the message whose turn it is
	Holder  *string
	Expires sqldb.RowTime
	Stopped sqldb.RowBool
}

// acquire takes the leases of topics. It returns their first batches, and the
// topics that cannot be had because somebody has their row locked. The leases of holders
// that have ended are free.
type acquire func(ctx context.Context, tx *Tx, c outboxdb.Claim, topics, ended []string) ([]outboxdb.Batch, []outboxdb.HeldUp, error)

// topicsToTake lists the topics with something to do, and which of their relays have ended.
// It notes in claimed what is left for later.
func (db *DB) topicsToTake(ctx context.Context, c outboxdb.Claim, list func(context.Context, *Tx) ([]topicRow, error),
	claimed *outboxdb.Claimed,
) (topics, ended []string, err error) {
	var rows []topicRow
	var now time.Time
	again := time.Duration(0)
	err = db.viewOutbox(ctx, func(tx *Tx) (err error) {
		now = tx.Now()
		rows, err = list(ctx, tx)
		return err
	})
	if err == nil && slices.ContainsFunc(rows, func(r topicRow) bool { return r.heldByOther(c, now) }) {
		ended, again, err = db.Ended(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	topics, claimed.Next = readyTopics(withoutEnded(rows, ended), c, now)
	if again > 0 && (claimed.Next < 0 || again < claimed.Next) {
		claimed.Next = again
	}
	n := min(c.Count, len(topics))
	topics, claimed.Ready = topics[:n], topics[n:]
	return topics, ended, nil
}

// claimTopics lists the topics with something to do, without writing, and
// acquires as many as c asks for.
func (db *DB) claimTopics(ctx context.Context, c outboxdb.Claim,
	list func(context.Context, *Tx) ([]topicRow, error), acquire acquire) (outboxdb.Claimed, error) {
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
			batches, locked, err = acquire(ctx, tx, c, topics, ended)
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

// heldByOther reports whether the topic waits for the end of somebody else's lease.
func (r topicRow) heldByOther(c outboxdb.Claim, now time.Time) bool {
	return r.Holder != nil && *r.Holder != c.Holder && r.Expires.Time().After(now)
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

// readyTopics returns the topics that could be acquired, least recently served first,
// and the time until another one may be ready; negative if there is none.
func readyTopics(rows []topicRow, c outboxdb.Claim, now time.Time) (topics []string, next time.Duration) {
	next = -1
	slices.SortStableFunc(rows, func(a, b topicRow) int {
		return cmp.Or(a.Expires.Time().Compare(b.Expires.Time()), cmp.Compare(a.Topic, b.Topic))
	})
	for _, r := range rows {
		if bool(r.Stopped) || slices.Contains(c.Held, r.Topic) || c.Topics != nil && !slices.Contains(c.Topics, r.Topic) || slices.Contains(c.Except, r.Topic) {
			continue
		}
		ready := r.Retry.Time()
		// If we hold the lease but do not work on the topic, the reply of a claim
		// was lost. A lease without a holder is free, whatever expires says: the
		// clock may have been set back.
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
			(SELECT retry FROM outbox_message WHERE `+isPending+` AND topic = p.topic ORDER BY id LIMIT 1) AS retry,
			t.holder, t.expires, `+isStopped+` AS stopped
		FROM p LEFT JOIN outbox_topic AS t ON t.topic = p.topic WHERE p.topic IS NOT NULL`)
	return rows, err
}

// isStopped is true of a topic t whose dead message holds up the others.
const isStopped = `(coalesce(t.strict, false) AND EXISTS (
	SELECT 1 FROM outbox_message AS d WHERE d.topic = t.topic AND d.dead IS NOT NULL))`

// acquireMessages is the [acquire] of the outbox.
func acquireMessages(ctx context.Context, tx *Tx, c outboxdb.Claim, topics, ended []string) ([]outboxdb.Batch, []outboxdb.HeldUp, error) {
	r, err := tx.Texts(1, topics)
	if err != nil {
		return nil, nil, err
	}
	e, err := tx.Texts(4, ended)
	if err != nil {
		return nil, nil, err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO outbox_topic (topic) SELECT value FROM `+r.SQL+` AS v
		WHERE NOT EXISTS (SELECT 1 FROM outbox_topic WHERE topic = value) ORDER BY value
		ON CONFLICT DO NOTHING`, r.Param); err != nil {
		return nil, nil, err
	}
	free := `SELECT t.topic FROM outbox_topic AS t WHERE t.topic IN (SELECT value FROM ` + r.SQL + ` AS v)
		AND (t.expires IS NULL OR t.expires <= $2 OR t.holder IS NULL OR t.holder = $3 OR t.holder IN (SELECT value FROM ` + e.SQL + ` AS e))
		AND NOT ` + isStopped
	// The topics are found once: as a subquery of the condition PostgreSQL may
	// find them again for each row of the table.
	var leases []leaseRow
	if err := tx.Select(ctx, &leases, `WITH free (name) AS MATERIALIZED (`+free+tx.SQL().ForUpdate+`)
		UPDATE outbox_topic SET holder = $3, token = token + 1, expires = $5 FROM free
		WHERE topic = name RETURNING topic, token`,
		r.Param, sqldb.Timestamp(tx.Now()), c.Holder, e.Param, sqldb.Timestamp(tx.Now().Add(c.Lease))); err != nil {
		return nil, nil, err
	}
	return tx.firstBatches(ctx, c, topics, leases, tx.nextMessages, func(missing *[]string) error {
		return tx.Select(ctx, missing, free, r.Param, sqldb.Timestamp(tx.Now()), c.Holder, e.Param)
	})
}

// firstBatches returns the first batches of topics whose leases were taken. Of
// the others free lists those that nobody holds: somebody has their row locked.
func (tx *Tx) firstBatches(ctx context.Context, c outboxdb.Claim, topics []string, leases []leaseRow,
	next func(context.Context, outboxdb.Lease, outboxdb.Terms) (*outboxdb.Batch, error), free func(*[]string) error,
) (batches []outboxdb.Batch, locked []outboxdb.HeldUp, err error) {
	if len(leases) > 0 {
		crashpoint.At("relay/leased")
	}
	taken := map[string]bool{}
	for _, l := range leases {
		taken[l.Topic] = true
		b, err := next(ctx, outboxdb.Lease{Topic: l.Topic, Holder: c.Holder, Token: l.Token}, c.Terms)
		if err != nil {
			return nil, nil, err
		}
		if b != nil {
			batches = append(batches, *b)
		}
	}
	if len(taken) == len(topics) {
		return batches, nil, nil
	}
	var names []string
	if err := free(&names); err != nil {
		return nil, nil, err
	}
	for _, topic := range names {
		if !taken[topic] {
			locked = append(locked, heldUp(topic, isolate.Contended, fmt.Errorf("the row of topic %q is locked by another session", topic)))
		}
	}
	return batches, locked, nil
}
