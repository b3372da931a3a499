package events

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// Claim implements [outboxdb.Source].
func (l Log) Claim(ctx context.Context, c outboxdb.Claim) (outboxdb.Claimed, error) {
	claimed := outboxdb.Claimed{Next: -1}
	var placed placing
	var err error
	switch {
	case c.Alone:
		placed, err = l.db.placeEvents(ctx, c.Among, nil, true)
	case c.Among == nil:
		if err = l.join(ctx, c.Topics); err == nil {
			placed, err = l.db.placeEvents(ctx, c.Topics, c.Held, false)
		}
	}
	if err == nil {
		claimed, err = l.db.claimTopics(ctx, c, l.unreadTopics, l.acquireTopics)
	}
	if err != nil {
		return claimed, fmt.Errorf("claim topics for group %q: %w", l.group, err)
	}
	for _, h := range placed.held {
		if !slices.ContainsFunc(claimed.Held, func(other outboxdb.HeldUp) bool { return other.Topic == h.Topic }) {
			claimed.Held = append(claimed.Held, h)
		}
	}
	if placed.more {
		claimed.Next = 0
	}
	return claimed, nil
}

// allTopics is the topic of an offset that covers the topics which a group has not
// begun to read.
const allTopics = "*"

// join records that the group reads topics, all of them if topics is nil. So
// [Outbox.Prune] keeps events of new topics for it.
func (l Log) join(ctx context.Context, topics []string) error {
	if topics == nil {
		topics = []string{allTopics}
	}
	list := strings.Join(topics, "\x00")
	if _, known := l.joined.Load(list); known {
		return nil
	}
	r, err := l.db.Texts(1, topics)
	if err != nil {
		return err
	}
	var missing []string
	if err := l.db.viewOutbox(ctx, func(tx *Tx) error {
		return tx.Select(ctx, &missing, `SELECT value FROM `+r.SQL+` AS v
			WHERE NOT EXISTS (SELECT 1 FROM event_offset WHERE group_ = $2 AND topic = value)`, r.Param, l.group)
	}); err != nil {
		return err
	}
	var held []outboxdb.HeldUp
	if len(missing) > 0 {
		held, err = l.db.eachTopic(ctx, missing, true, l.addOffsets, func() {})
	}
	if err == nil && len(held) == 0 {
		l.joined.Store(list, true)
	}
	return err
}

// addOffsets adds the group's offsets in topics that it has not read yet.
func (l Log) addOffsets(ctx context.Context, tx *Tx, topics []string) error {
	r, err := tx.DB().Texts(1, topics)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO event_offset (group_, topic) SELECT CAST($2 AS varchar(254)), value FROM `+r.SQL+` AS v
		WHERE NOT EXISTS (SELECT 1 FROM event_offset WHERE group_ = $2 AND topic = value) ORDER BY value
		ON CONFLICT DO NOTHING`, r.Param, l.group)
	return err
}

// unreadTopics lists the topics of which the group has not read all.
func (l Log) unreadTopics(ctx context.Context, tx *Tx) ([]topicRow, error) {
	var rows []topicRow
	err := tx.Select(ctx, &rows, `SELECT p.topic, o.retry, o.holder, o.expires, false AS stopped
		FROM event_topic AS p LEFT JOIN event_offset AS o ON o.group_ = $1 AND o.topic = p.topic
		WHERE p.position > coalesce(o.position, 0)`, l.group)
	return rows, err
}

// acquireTopics is the [acquire] of a consumer group.
func (l Log) acquireTopics(ctx context.Context, tx *Tx, c outboxdb.Claim, topics, ended []string) ([]outboxdb.Batch, []outboxdb.HeldUp, error) {
	if err := l.addOffsets(ctx, tx, topics); err != nil {
		return nil, nil, err
	}
	r, err := tx.Texts(1, topics)
	if err != nil {
		return nil, nil, err
	}
	e, err := tx.Texts(5, ended)
	if err != nil {
		return nil, nil, err
	}
	free := `SELECT topic FROM event_offset WHERE group_ = $2 AND topic IN (SELECT value FROM ` + r.SQL + ` AS v)
		AND (expires IS NULL OR expires <= $3 OR holder IS NULL OR holder = $4 OR holder IN (SELECT value FROM ` + e.SQL + ` AS e))`
	var leases []leaseRow
	if err := tx.Select(ctx, &leases, `WITH free (name) AS MATERIALIZED (`+free+tx.SQL().ForUpdate+`)
		UPDATE event_offset SET holder = $4, token = token + 1, expires = $6 FROM free
		WHERE group_ = $2 AND topic = name RETURNING topic, token`,
		r.Param, l.group, sqldb.Timestamp(tx.Now()), c.Holder, e.Param, sqldb.Timestamp(tx.Now().Add(c.Lease))); err != nil {
		return nil, nil, err
	}
	next := func(ctx context.Context, lease outboxdb.Lease, terms outboxdb.Terms) (*outboxdb.Batch, error) {
		return l.nextEvents(ctx, tx, lease, terms)
	}
	return tx.firstBatches(ctx, c, topics, leases, next, func(names *[]string) error {
		return tx.Select(ctx, names, free, r.Param, l.group, sqldb.Timestamp(tx.Now()), c.Holder, e.Param)
	})
}

// nextEvents returns the next events of a topic that a member holds. If there
// are none it gives the lease back.
func (l Log) nextEvents(ctx context.Context, tx *Tx, lease outboxdb.Lease, terms outboxdb.Terms) (*outboxdb.Batch, error) {
	var offset struct {
		Position sqldb.RowInt
		Last     sqldb.RowInt
		Attempts sqldb.RowInt
		Retry    sqldb.RowTime
	}
	if err := tx.First(ctx, &offset, `SELECT position, attempts, retry,
			(SELECT position FROM event_topic WHERE topic = $2) AS last
		FROM event_offset WHERE group_ = $1 AND topic = $2`, l.group, lease.Topic); err != nil {
		return nil, err
	}
	read := int64(offset.Position.N)
	if !offset.Retry.Time().After(tx.Now()) {
		rows, err := tx.eventsAfter(ctx, lease.Topic, read, terms)
		if err != nil {
			return nil, err
		}
		b := &outboxdb.Batch{Lease: lease}
		for _, r := range rows {
			b.Items = append(b.Items, outboxdb.Item{Event: r.event(), Problem: r.unreadable()})
		}
		if len(b.Items) > 0 {
			b.Items[0].Attempts = offset.Attempts.N
			return b, nil
		}
		read = max(read, int64(offset.Last.N)) // what was there has been removed
	}
	_, err := tx.Exec(ctx, `UPDATE event_offset SET holder = NULL, expires = $5, position = $6
		WHERE group_ = $1 AND topic = $2 AND holder = $3 AND token = $4`,
		l.group, lease.Topic, lease.Holder, lease.Token, sqldb.Timestamp(tx.Now()), read)
	return nil, err
}

// Settle implements [outboxdb.Source]: the offset moves to the last event that
// was consumed.
func (l Log) Settle(ctx context.Context, s outboxdb.Settlement) (next *outboxdb.Batch, err error) {
	err = l.db.updateOutbox(ctx, s.Brief, func(tx *Tx) error {
		held, err := l.commit(ctx, tx, s)
		if err != nil {
			return err
		}
		if held == 0 {
			return outboxdb.ErrLeaseLost
		}
		if s.After == outboxdb.NextBatch {
			next, err = l.nextEvents(ctx, tx, s.Lease, s.Terms)
		}
		return err
	})
	if cause := topicCause(err); err != nil && cause != isolate.Database {
		err = unrecorded(s, cause, err)
	}
	if err != nil {
		return nil, fmt.Errorf("commit the offset of group %q in topic %q: %w", l.group, s.Lease.Topic, err)
	}
	return next, nil
}

// commit writes the offset if the lease is still the group's.
func (l Log) commit(ctx context.Context, tx *Tx, s outboxdb.Settlement) (int64, error) {
	var position any // nil: as it is
	if n := len(s.Accepted); n > 0 {
		position = s.Accepted[n-1].Position
	}
	attempts, problem, retry := 0, "", sqldb.Timestamp{}
	if f := s.Failed; f != nil {
		attempts, problem, retry = min(f.Item.Attempts, math.MaxInt32-1)+1, f.Problem, sqldb.Timestamp(tx.Now().Add(f.Delay))
	}
	holder, until := tx.leaseAfter(s)
	return tx.Exec(ctx, `UPDATE event_offset SET expires = $5, updated = $6, position = coalesce($7, position),
			attempts = $8, problem = $9, retry = $10, holder = $11
		WHERE group_ = $1 AND topic = $2 AND coalesce(holder, $3) = $3 AND token = $4`,
		l.group, s.Lease.Topic, s.Lease.Holder, s.Lease.Token, until, sqldb.Timestamp(tx.Now()), position,
		attempts, sqldb.Nullable(problem), retry, holder)
}
