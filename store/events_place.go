package store

import (
	"context"
	"errors"
	"slices"
)

// placeLimit is how many events of a topic get their positions in one
// transaction.
const placeLimit = 1000

// unplacedTopics lists the topics with events that have no position yet, by
// skipping along the index nextrun_event_unplaced.
const unplacedTopics = `WITH RECURSIVE p (topic) AS (
		SELECT min(topic) FROM event_store WHERE position IS NULL
		UNION ALL
		SELECT (SELECT min(topic) FROM event_store WHERE position IS NULL AND topic > p.topic)
		FROM p WHERE p.topic IS NOT NULL)
	SELECT topic FROM p WHERE topic IS NOT NULL`

// placeEvents gives the events of topics their positions, of all topics if
// topics is nil. It passes over topics in which somebody has rows locked, and
// reports whether there were none. Nothing is written where all have theirs.
//
// Positions are given to what has been committed, in the order of appending,
// while the topic's row is locked. So they are committed in their own order,
// and a position that can be seen has no gap before it: what commits later
// comes behind it. Events of an aggregate come in the order of their versions,
// because the later one was appended only after the earlier was committed.
func (db *DB) placeEvents(ctx context.Context, topics []string) (all bool, err error) {
	for {
		var open []string
		if err := db.View(ctx, func(tx *Tx) error { return tx.list(ctx, &open, unplacedTopics) }); err != nil {
			return false, err
		}
		if topics != nil {
			open = slices.DeleteFunc(open, func(t string) bool { return !slices.Contains(topics, t) })
		}
		full, all := false, true
		for _, topic := range open {
			var placed int64
			err := db.updateBriefly(ctx, func(tx *Tx) (err error) {
				placed, err = tx.place(ctx, topic)
				return err
			})
			if err != nil && !errors.Is(err, ErrContended) {
				return false, err
			}
			full, all = full || placed == placeLimit, all && err == nil
		}
		if !full {
			return all, nil
		}
	}
}

// place gives events of a topic their positions. The topic's row is locked by
// an update in a statement of its own: the next one sees what was committed
// while it waited for the lock. An event that is removed meanwhile leaves its
// position unused: the topic goes on behind the last one that was given.
func (tx *Tx) place(ctx context.Context, topic string) (int64, error) {
	if _, err := tx.exec(ctx, `INSERT INTO event_topic (topic) VALUES ($1)
		ON CONFLICT (topic) DO UPDATE SET topic = excluded.topic`, topic); err != nil {
		return 0, err
	}
	var placed []int64
	err := tx.list(ctx, &placed, `UPDATE event_store SET position = of_position FROM (
			SELECT seq AS of_seq, (SELECT position FROM event_topic WHERE topic = $1) +
				row_number() OVER (ORDER BY seq) AS of_position
			FROM (SELECT seq FROM event_store WHERE topic = $1 AND position IS NULL ORDER BY seq LIMIT $2) AS u) AS placed
		WHERE seq = of_seq RETURNING position`, topic, placeLimit)
	if err != nil || len(placed) == 0 {
		return 0, err
	}
	_, err = tx.exec(ctx, `UPDATE event_topic SET position = $2 WHERE topic = $1`, topic, slices.Max(placed))
	return int64(len(placed)), err
}
