// Package sqlite lets [store.Open] open files of SQLite, with go-sqlite3, which needs cgo.
// Import it for that:
//
//	import _ "github.com/nextrun/nextrun/store/sqlite"
//
// It has no names. Without cgo, or with the tag nosqlite, it brings no driver, and
// [store.Open] says so. A program with its own pool does not need it; see
// [store.New].
//
// [store.Open]: https://pkg.go.dev/github.com/nextrun/nextrun/store#Open
// [store.New]: https://pkg.go.dev/github.com/nextrun/nextrun/store#New
package sqlite

import (
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/store/internal/connect"
)

func init() { //nolint:gochecknoinits // as drivers of database/sql do
	connect.Register(sqldb.SQLite, connect.Driver{Open: open})
}
