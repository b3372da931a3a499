package measure

import (
	"context"
	"errors"

	"github.com/nextrun/nextrun/bench/internal/floor"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/postgres" // measured on either database
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// DB is an open database, with connections beside it for plain statements.
type DB struct {
	*store.DB
	Plain floor.Plain
}

// Open is [store.Open].
func Open(ctx context.Context, databaseURL string, options store.Options) (*DB, error) {
	db, err := store.Open(ctx, databaseURL, options)
	if err != nil {
		return nil, err
	}
	plain, err := floor.Open(databaseURL)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &DB{db, plain}, nil
}

// Close closes all connections.
func (db *DB) Close() error { return errors.Join(db.Plain.Close(), db.DB.Close()) }
