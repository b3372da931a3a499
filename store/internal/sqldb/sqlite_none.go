//go:build !cgo || nosqlite

package sqldb

import "errors"

// errNoSQLite is returned for the URL of a SQLite database by a program that was
// built without SQLite.
var errNoSQLite = errors.New("this program was built without SQLite, which needs a C compiler: " +
	"build it with CGO_ENABLED=1 and without the tag nosqlite, or use PostgreSQL")

func (db *DB) openSQLite() error { return errNoSQLite }

// mattnFailureOf finds nothing: go-sqlite3 is not linked.
func mattnFailureOf(error) (sqliteFailure, bool) { return sqliteFailure{}, false }
