package events

import (
	"context"
	"maps"
	"slices"

	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// Limits of one transaction that gives events their positions: about so many
// events, of so many topics.
const (
	placeLimit  = 2000
	placeTopics = 200
)

// unplacedTopics lists the topics with events that have no position yet, by
// skipping along the index nextrun_event_unplaced.
const unplacedTopics = `WITH RECURSIVE p (topic) AS (
		SELECT min(topic) FROM event_store WHERE position IS NULL
		UNION ALL
		SELECT (SELECT min(topic) FROM event_store WHERE position IS NULL AND topic > p.topic)
		FROM p WHERE p.topic IS NOT NULL)
	SELECT topic FROM p WHERE topic IS NOT NULL`

// placing is what became of the events that need positions.
type placing struct {
	held []outboxdb.HeldUp // topics whose events cannot be placed
	more bool              // there are more events to place
}

// placeEvents gives events of topics their positions; if topics is nil, those of all
// topics but except. It waits only briefly for a topic in which somebody has rows
// locked; with brief it waits even less. If all events have positions it writes
// nothing.
//
// Positions are given to what has been committed, in the order of appending,
// while the topic's row is locked. So they are committed in their own order,
// and a position that can be seen has no gap before it: what commits later
// comes behind it. Events of an aggregate come in the order of their versions,
// because the later one was appended only after the earlier was committed.
func (db *DB) placeEvents(ctx context.Context, topics, except []string, brief bool) (done placing, err error) {
	var unplaced []string
	if err := db.viewOutbox(ctx, func(tx *Tx) error { return tx.Select(ctx, &unplaced, unplacedTopics) }); err != nil {
		return done, err
	}
	var open []string
	for _, topic := range unplaced {
		if (topics == nil && !bounds.IsHookTopic(topic) || slices.Contains(topics, topic)) && !slices.Contains(except, topic) {
			open = append(open, topic)
		}
	}
	for chunk := range slices.Chunk(open, placeTopics) {
		full := false
		held, err := db.eachTopic(ctx, chunk, brief, func(ctx context.Context, tx *Tx, topics []string) (err error) {
			full, err = tx.place(ctx, topics)
			return err
		}, func() { done.more = done.more || full })
		done.held = append(done.held, held...)
		if err != nil && len(held) == 0 {
			return done, err
		}
	}
	return done, nil
}

// placeAll gives all events of topics their positions, but for those topics in
// which somebody has rows locked.
func (db *DB) placeAll(ctx context.Context, topics []string) error {
	var except []string
	for {
		done, err := db.placeEvents(ctx, topics, except, false)
		if err != nil || !done.more {
			return err
		}
		for _, h := range done.held {
			except = append(except, h.Topic)
		}
	}
}

// place gives events of topics their positions, and reports whether there may be
// more. The topics' rows are locked by a statement of their own: the next one
// sees what was committed while that waited for the locks. An event that is
// removed meanwhile leaves its position unused: the topic goes on behind the
// last one that was given.
func (tx *Tx) place(ctx context.Context, topics []string) (more bool, err error) {
	r, err := tx.Texts(1, topics)
	if err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO event_topic (topic) SELECT value FROM `+r.SQL+` AS v WHERE true ORDER BY value
		ON CONFLICT (topic) DO UPDATE SET topic = excluded.topic`, r.Param); err != nil {
		return false, err
	}
	var given []struct {
		Topic    string
		Position int64
	}
	limit := max(placeLimit/len(topics), 1)
	err = tx.Select(ctx, &given, `WITH open AS (
			SELECT value AS of_topic, (SELECT max(seq) FROM (SELECT seq FROM event_store
				WHERE topic = v.value AND position IS NULL ORDER BY seq LIMIT $2) AS u) AS last FROM `+r.SQL+` AS v)
		UPDATE event_store SET position = of_position FROM (
			SELECT e.seq AS of_seq, t.position + row_number() OVER (PARTITION BY e.topic ORDER BY e.seq) AS of_position
			FROM open CROSS JOIN event_topic AS t CROSS JOIN event_store AS e
			WHERE t.topic = of_topic AND e.topic = of_topic AND e.position IS NULL AND e.seq <= last) AS placed
		WHERE seq = of_seq RETURNING topic, position`, r.Param, limit)
	if err != nil || len(given) == 0 {
		return false, err
	}
	crashpoint.At("events/positions-given")
	counts, last := map[string]int{}, map[string]int64{}
	for _, g := range given {
		counts[g.Topic]++
		last[g.Topic] = max(last[g.Topic], g.Position)
		more = more || counts[g.Topic] == limit
	}
	names := slices.Sorted(maps.Keys(last))
	r, err = tx.DB().Records(1, []sqldb.Field{sqldb.Text("of_topic"), sqldb.Int("of_position")}, len(names),
		func(i int) []any { return []any{names[i], last[names[i]]} })
	if err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, `UPDATE event_topic SET position = of_position FROM `+r.SQL+` AS v WHERE topic = of_topic`, r.Param)
	return more, err
}
