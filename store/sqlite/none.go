//go:build !cgo || nosqlite

package sqlite

import (
	"context"
	"errors"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/store/internal/dburl"
)

// errNoSQLite is returned for the URL of a SQLite database by a program that was
// built without SQLite.
var errNoSQLite = errors.New("this program was built without SQLite, which needs a C compiler: " +
	"build it with CGO_ENABLED=1 and without the tag nosqlite, or use PostgreSQL")

// open returns an error: there is no driver.
func open(context.Context, dburl.URL, sqldb.Options) (*sqldb.DB, error) { return nil, errNoSQLite }
