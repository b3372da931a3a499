package events

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/nextrun/nextrun/internal/isolate"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// The lease of a topic is a row of scheduler_lock while somebody holds it. leaseOf is SQL for its name, in front of a
// topic, and topicOf for the topic in its column name.
const (
	leaseOf = `'topic:' || `
	topicOf = `substr(name, 7)`
	isLease = `name LIKE 'topic:%'`
)

// leaseRow is a lease that was taken.
type leaseRow struct {
	Topic string
	Token int64
}

// acquireMessages takes the leases of topics. It returns their first batches, and the
// topics that cannot be had because somebody has their row locked. The leases of holders
// that have ended are free.
func acquireMessages(ctx context.Context, tx *Tx, c outboxdb.Claim, topics, ended []string) ([]outboxdb.Batch, []outboxdb.HeldUp, error) {
	now, until := sqldb.Timestamp(tx.Now()), sqldb.Timestamp(tx.Now().Add(c.Lease))
	columns := []sqldb.Field{sqldb.Text("topic"), sqldb.Int("own"), sqldb.Time("since"), sqldb.Time("until")}
	r, err := tx.DB().Records(1, columns, len(topics), func(i int) []any { return []any{topics[i], rand.Int64N(1 << 53), now.Time(), until.Time()} })
	if err != nil {
		return nil, nil, err
	}
	var leases, more []leaseRow
	err = tx.Select(ctx, &leases, `INSERT INTO scheduler_lock (name, holder, hostname, pid, token, acquired, heartbeat, expires)
		SELECT `+leaseOf+`v.topic, CAST($2 AS varchar(254)), '', 0, v.own, v.since, v.since, v.until FROM `+r.SQL+` AS v
		WHERE NOT EXISTS (SELECT 1 FROM scheduler_lock WHERE name = `+leaseOf+`v.topic) ORDER BY v.topic
		ON CONFLICT (name) DO NOTHING RETURNING `+topicOf+` AS topic, token`, r.Param, c.Holder)
	if err != nil {
		return nil, nil, err
	}
	e, err := tx.Texts(4, ended)
	if err != nil {
		return nil, nil, err
	}
	free := `SELECT name FROM scheduler_lock WHERE name IN (SELECT ` + leaseOf + `v.topic FROM ` + r.SQL + ` AS v)
		AND (expires <= $3 OR holder = $2 OR holder IN (SELECT value FROM ` + e.SQL + ` AS e))`
	if len(leases) < len(topics) {
		// The topics are found once: as a subquery of the condition PostgreSQL may
		// find them again for each row of the table.
		if err := tx.Select(ctx, &more, `WITH free (lease) AS MATERIALIZED (`+free+tx.SQL().ForUpdate+`)
			UPDATE scheduler_lock SET holder = $2, token = v.own, acquired = v.since, heartbeat = v.since, expires = v.until
			FROM free JOIN `+r.SQL+` AS v ON free.lease = `+leaseOf+`v.topic
			WHERE name = free.lease RETURNING `+topicOf+` AS topic, token`, r.Param, c.Holder, now, e.Param); err != nil {
			return nil, nil, err
		}
	}
	return tx.firstBatches(ctx, c, topics, append(leases, more...), func(names *[]string) error {
		return tx.Select(ctx, names, `SELECT `+topicOf+` FROM (`+free+`) AS f`, r.Param, c.Holder, now, e.Param)
	})
}

// firstBatches returns the first batches of topics whose leases were taken. Of
// the others free lists those that nobody holds: somebody has their row locked.
func (tx *Tx) firstBatches(ctx context.Context, c outboxdb.Claim, topics []string, leases []leaseRow, free func(*[]string) error,
) (batches []outboxdb.Batch, locked []outboxdb.HeldUp, err error) {
	taken := map[string]bool{}
	for _, l := range leases {
		taken[l.Topic] = true
		b, err := tx.nextMessages(ctx, outboxdb.Lease{Topic: l.Topic, Holder: c.Holder, Token: l.Token}, c.Terms)
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

// giveBack ends a lease, and reports whether it was still the topic's.
func (tx *Tx) giveBack(ctx context.Context, l outboxdb.Lease) (bool, error) {
	n, err := tx.Exec(ctx, `DELETE FROM scheduler_lock WHERE name = `+leaseOf+`$1 AND holder = $2 AND token = $3`, l.Topic, l.Holder, l.Token)
	if err != nil {
		return false, &leaseRowError{err}
	}
	return n > 0, nil
}

// settleLease renews a lease or gives it back, or returns [outboxdb.ErrLeaseLost]. A lease that was given back
// may be settled once more: the first time may only have seemed to fail.
func (tx *Tx) settleLease(ctx context.Context, s outboxdb.Settlement) error {
	l := s.Lease
	var held bool
	var err error
	if s.After == outboxdb.GiveBack {
		held, err = tx.giveBack(ctx, l)
	} else {
		var n int64
		n, err = tx.Exec(ctx, `UPDATE scheduler_lock SET heartbeat = $4, expires = $5 WHERE name = `+leaseOf+`$1 AND holder = $2 AND token = $3`,
			l.Topic, l.Holder, l.Token, sqldb.Timestamp(tx.Now()), sqldb.Timestamp(tx.Now().Add(s.Terms.Lease)))
		if held = n > 0; err != nil {
			err = &leaseRowError{err}
		}
	}
	switch {
	case err != nil:
		return err
	case held:
		return nil
	case s.After == outboxdb.GiveBack && tx.checkRecorded(ctx, s) == nil:
		var holders int
		if err := tx.First(ctx, &holders, `SELECT count(*) FROM scheduler_lock WHERE name = `+leaseOf+`$1`, l.Topic); err == nil && holders == 0 {
			return nil
		}
	}
	return outboxdb.ErrLeaseLost
}

// pruneLeases removes leases that ended a day ago, of relays that were killed.
func (s Outbox) pruneLeases(ctx context.Context) error {
	return s.db.updateOutbox(ctx, true, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM scheduler_lock WHERE name IN (SELECT name FROM scheduler_lock
			WHERE `+isLease+` AND expires < $1`+tx.SQL().ForUpdate+`)`, sqldb.Timestamp(tx.Now().AddDate(0, 0, -1)))
		return err
	})
}
