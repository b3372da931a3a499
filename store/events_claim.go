package store

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Claim implements [outbox.Source].
func (l EventLog) Claim(ctx context.Context, c outbox.Claim) (outbox.Claimed, error) {
	claimed := outbox.Claimed{Next: -1}
	placed, err := true, error(nil)
	if c.Among == nil {
		placed, err = l.db.placeEvents(ctx, c.Topics)
	}
	if err == nil {
		claimed, err = l.db.claimTopics(ctx, c, l.unreadTopics, l.acquireTopics)
	}
	if err != nil {
		return claimed, fmt.Errorf("claim topics for group %q: %w", l.group, err)
	}
	if !placed {
		claimed.Next = soon(claimed.Next)
	}
	return claimed, nil
}

// unreadTopics lists the topics of which the group has not read all.
func (l EventLog) unreadTopics(ctx context.Context, tx *Tx) ([]topicRow, error) {
	var rows []topicRow
	err := tx.list(ctx, &rows, `SELECT t.topic, o.retry, o.holder, o.expires, false AS stopped
		FROM event_topic AS t LEFT JOIN event_offset AS o ON o.group_ = $1 AND o.topic = t.topic
		WHERE t.position > coalesce(o.position, 0)`, l.group)
	return rows, err
}

// acquireTopics is the [acquire] of a consumer group.
func (l EventLog) acquireTopics(ctx context.Context, tx *Tx, c outbox.Claim, topics []string) ([]outbox.Batch, error) {
	r, err := tx.texts(1, topics)
	if err != nil {
		return nil, err
	}
	if _, err := tx.exec(ctx, `INSERT INTO event_offset (group_, topic) SELECT CAST($2 AS varchar(254)), value FROM `+r.sql+` AS v
		WHERE NOT EXISTS (SELECT 1 FROM event_offset WHERE group_ = $2 AND topic = value) ORDER BY value
		ON CONFLICT DO NOTHING`, r.param, l.group); err != nil {
		return nil, err
	}
	var leases []leaseRow
	err = tx.list(ctx, &leases, `UPDATE event_offset SET holder = $3, token = token + 1, expires = $4
		WHERE group_ = $2 AND topic IN (
			SELECT topic FROM event_offset WHERE group_ = $2 AND topic IN (SELECT value FROM `+r.sql+` AS v)
				AND (expires IS NULL OR expires <= $5 OR holder IS NULL OR holder = $3)`+tx.db.dialect.lockRows()+`)
		RETURNING topic, token`,
		r.param, l.group, c.Holder, Timestamp(tx.now.Add(c.Lease)), Timestamp(tx.now))
	if err != nil {
		return nil, err
	}
	var batches []outbox.Batch
	for _, lease := range leases {
		b, err := l.nextEvents(ctx, tx, outbox.Lease{Topic: lease.Topic, Holder: c.Holder, Token: lease.Token}, c.Terms)
		if err != nil {
			return nil, err
		}
		if b != nil {
			batches = append(batches, *b)
		}
	}
	return batches, nil
}

// nextEvents returns the next events of a topic that a member holds. If there
// are none it gives the lease back.
func (l EventLog) nextEvents(ctx context.Context, tx *Tx, lease outbox.Lease, terms outbox.Terms) (*outbox.Batch, error) {
	var offset struct {
		Position int64
		Last     int64
		Attempts int
		Retry    Timestamp
	}
	if err := tx.get(ctx, &offset, `SELECT position, attempts, retry,
			(SELECT position FROM event_topic WHERE topic = $2) AS last
		FROM event_offset WHERE group_ = $1 AND topic = $2`, l.group, lease.Topic); err != nil {
		return nil, err
	}
	read := offset.Position
	if !offset.Retry.Time().After(tx.now) {
		events, err := tx.eventsAfter(ctx, lease.Topic, offset.Position, terms)
		if err != nil {
			return nil, err
		}
		b := &outbox.Batch{Lease: lease}
		for _, e := range events {
			b.Items = append(b.Items, outbox.Item{Event: e})
		}
		if len(b.Items) > 0 {
			b.Items[0].Attempts = offset.Attempts
			return b, nil
		}
		read = max(read, offset.Last) // what was there has been removed
	}
	_, err := tx.exec(ctx, `UPDATE event_offset SET holder = NULL, expires = $5, position = $6
		WHERE group_ = $1 AND topic = $2 AND holder = $3 AND token = $4`,
		l.group, lease.Topic, lease.Holder, lease.Token, Timestamp(tx.now), read)
	return nil, err
}

// Settle implements [outbox.Source]: the offset moves to the last event that
// was consumed.
func (l EventLog) Settle(ctx context.Context, s outbox.Settlement) (next *outbox.Batch, err error) {
	err = l.db.Update(ctx, func(tx *Tx) error {
		held, err := l.commit(ctx, tx, s)
		if err != nil {
			return err
		}
		if held == 0 {
			return outbox.ErrLeaseLost
		}
		if s.More {
			next, err = l.nextEvents(ctx, tx, s.Lease, s.Terms)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("commit the offset of group %q in topic %q: %w", l.group, s.Lease.Topic, err)
	}
	return next, nil
}

// commit writes the offset if the lease is still the group's.
func (l EventLog) commit(ctx context.Context, tx *Tx, s outbox.Settlement) (int64, error) {
	var position any // nil: as it is
	if n := len(s.Accepted); n > 0 {
		position = s.Accepted[n-1].Position
	}
	attempts, problem, retry := 0, "", Timestamp{}
	if f := s.Failed; f != nil {
		attempts, problem, retry = f.Item.Attempts+1, f.Problem, Timestamp(tx.now.Add(f.Delay))
	}
	holder, until := tx.renewed(s)
	return tx.exec(ctx, `UPDATE event_offset SET expires = $5, updated = $6, position = coalesce($7, position),
			attempts = $8, problem = $9, retry = $10, holder = $11
		WHERE group_ = $1 AND topic = $2 AND coalesce(holder, $3) = $3 AND token = $4`,
		l.group, s.Lease.Topic, s.Lease.Holder, s.Lease.Token, until, Timestamp(tx.now), position,
		attempts, nullable(problem), retry, holder)
}
