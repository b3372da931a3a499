// Package events keeps events and their delivery, in the tables event_store,
// outbox_message and event_aggregate; the leases of topics are rows of scheduler_lock. [Outbox] is what
// relays publish, and [Sink] turns ticks into events.
package events

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// DB is a database with its events.
type DB struct{ *sqldb.DB }

// New returns the events of a database.
func New(db *sqldb.DB) *DB { return &DB{db} }

// Tx is a transaction that reads and writes events. It implements [outbox.Tx].
type Tx struct{ *sqldb.Tx }

// Update runs fn in a transaction that may write.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	return db.DB.Update(ctx, func(tx *sqldb.Tx) error { return fn(&Tx{tx}) })
}

// UpdateWithin is Update with a limit on the wait for a locked row.
func (db *DB) UpdateWithin(ctx context.Context, wait time.Duration, fn func(*Tx) error) error {
	return db.DB.UpdateWithin(ctx, wait, func(tx *sqldb.Tx) error { return fn(&Tx{tx}) })
}

// View runs fn in a transaction that only reads.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return db.DB.View(ctx, func(tx *sqldb.Tx) error { return fn(&Tx{tx}) })
}

// ViewWithin is View with a limit on the wait for a locked table.
func (db *DB) ViewWithin(ctx context.Context, wait time.Duration, fn func(*Tx) error) error {
	return db.DB.ViewWithin(ctx, wait, func(tx *sqldb.Tx) error { return fn(&Tx{tx}) })
}

// Join returns the caller's transaction as one of ours.
func (db *DB) Join(ctx context.Context, outer jobqueue.DBTX) (*Tx, error) {
	tx, err := db.DB.Join(ctx, outer)
	return &Tx{tx}, err
}
