package events

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"github.com/nextrun/nextrun/internal/bounds"
	"github.com/nextrun/nextrun/internal/defaults"
	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// Log is the event store as its readers see it, a consumer group or a reader
// without one. It implements [outboxdb.Source] for the group and
// [outbox.Log]. It is safe for concurrent use.
type Log struct {
	db     *DB
	group  string
	joined *sync.Map // lists of topics that join has recorded
}

var (
	_ outboxdb.Source = Log{}
	_ outbox.Log      = Log{}
)

// Log returns the event store for a consumer group. Readers that need no
// offsets use any name.
func (db *DB) Log(group string) Log { return Log{db, group, new(sync.Map)} }

// Watch implements [outboxdb.Source] and [outbox.Log].
func (l Log) Watch(ctx context.Context, worker string, wake func(), report func(error)) {
	l.db.Watch(ctx, sqldb.Service{Worker: worker, Kind: "consumer"}, wake, report, sqldb.TopicEvents)
}

// Read implements [outbox.Log].
func (l Log) Read(ctx context.Context, topic string, after int64, limit int) ([]outbox.Event, error) {
	var rows []eventRow
	err := l.db.placeAll(ctx, []string{topic})
	if err == nil {
		err = l.db.View(ctx, func(tx *Tx) error {
			rows, err = tx.eventsAfter(ctx, topic, after, outboxdb.Terms{Limit: limit, Bytes: defaults.EventBytes})
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read events of topic %q: %w", topic, err)
	}
	events := make([]outbox.Event, len(rows))
	for i, r := range rows {
		events[i] = r.event()
	}
	return events, nil
}

// eventsAfter returns events of a topic after a position.
func (tx *Tx) eventsAfter(ctx context.Context, topic string, after int64, terms outboxdb.Terms) ([]eventRow, error) {
	var rows []eventRow
	err := tx.Select(ctx, &rows, `WITH head AS (
			SELECT id, position, octet_length(payload) AS size FROM event_store
			WHERE topic = $1 AND position > $2 ORDER BY position LIMIT $3),
		sized AS (
			SELECT id, sum(size) OVER (ORDER BY position) AS bytes, row_number() OVER (ORDER BY position) AS n FROM head)
		SELECT `+eventColumns+` FROM sized JOIN event_store AS e ON e.id = sized.id
		WHERE n = 1 OR bytes <= $4 ORDER BY e.position`, topic, after, terms.Limit, terms.Bytes)
	return rows, err
}

// End implements [outbox.Log].
func (l Log) End(ctx context.Context, topic string) (int64, error) {
	ends, err := l.Ends(ctx, []string{topic})
	return ends[topic], err
}

// Ends implements [outbox.Log].
func (l Log) Ends(ctx context.Context, topics []string) (map[string]int64, error) {
	var rows []struct {
		Topic    string
		Position sqldb.RowInt
	}
	err := l.db.placeAll(ctx, topics)
	if err == nil {
		err = l.db.View(ctx, func(tx *Tx) error {
			if topics == nil {
				return tx.Select(ctx, &rows, `SELECT topic, position FROM event_topic`)
			}
			r, err := tx.Texts(1, topics)
			if err != nil {
				return err
			}
			return tx.Select(ctx, &rows, `SELECT topic, position FROM event_topic
				WHERE topic IN (SELECT value FROM `+r.SQL+` AS v)`, r.Param)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("find the ends of topics: %w", err)
	}
	ends := make(map[string]int64, len(rows))
	for _, r := range rows {
		ends[r.Topic] = int64(r.Position.N)
	}
	return ends, nil
}

// Topics implements [outbox.Log].
func (l Log) Topics(ctx context.Context) ([]string, error) {
	var topics []string
	err := l.db.View(ctx, func(tx *Tx) error {
		return tx.Select(ctx, &topics, `SELECT topic FROM event_topic UNION SELECT topic FROM (`+unplacedTopics+`) AS u ORDER BY topic`)
	})
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	return slices.DeleteFunc(topics, bounds.IsHookTopic), nil
}

// Seek implements [outbox.Log]. The token rises, so that a batch in flight cannot
// set the offset back.
func (l Log) Seek(ctx context.Context, topic string, position int64) error {
	err := l.db.Update(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO event_offset AS o (group_, topic, position, updated) VALUES ($1, $2, $3, $4)
			ON CONFLICT (group_, topic) DO UPDATE SET position = excluded.position, updated = excluded.updated,
				token = o.token + 1, holder = NULL, expires = NULL, attempts = 0, problem = NULL, retry = NULL`,
			l.group, topic, position, sqldb.Timestamp(tx.Now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("seek in topic %q: %w", topic, err)
	}
	return nil
}

// Offsets implements [outbox.Log].
func (l Log) Offsets(ctx context.Context) ([]outbox.Offset, error) {
	var rows []struct {
		Topic    string
		Position sqldb.RowInt
		Last     sqldb.RowInt
		Holder   sql.NullString
		Attempts sqldb.RowInt
		Problem  sql.NullString
	}
	err := l.db.View(ctx, func(tx *Tx) error {
		return tx.Select(ctx, &rows, `SELECT o.topic, o.position, coalesce(t.position, 0) AS last,
				CASE WHEN o.expires > $2 THEN o.holder END AS holder, o.attempts, o.problem
			FROM event_offset AS o LEFT JOIN event_topic AS t ON t.topic = o.topic
			WHERE o.group_ = $1 AND (o.topic <> '*' OR t.topic IS NOT NULL) ORDER BY o.topic`, l.group, sqldb.Timestamp(tx.Now()))
	})
	if err != nil {
		return nil, fmt.Errorf("list offsets of group %q: %w", l.group, err)
	}
	list := make([]outbox.Offset, len(rows))
	for i, r := range rows {
		list[i] = outbox.Offset{Group: l.group, Topic: r.Topic, Position: int64(r.Position.N), End: int64(r.Last.N),
			Holder: r.Holder.String, Attempts: r.Attempts.N, Problem: r.Problem.String}
	}
	return list, nil
}
