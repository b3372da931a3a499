package sqldb

import "database/sql"

// The pools, for tests that look at connections.
func (db *DB) Writer() *sql.DB { return db.pools.Write }

func (db *DB) Reader() *sql.DB { return db.pools.Read }
