//go:build cgo && !nosqlite

package sqldb

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"
)

func (db *DB) openSQLite() error {
	if err := errors.Join(db.options.noListenURL(), db.options.noSchema()); err != nil {
		return err
	}
	file := newSQLiteFile(db.location.sqlite, db.options.Create)
	if err := file.find(); err != nil {
		return err
	}
	source := file.source() + "&_foreign_keys=on&_busy_timeout=" + strconv.FormatInt(db.options.LockTimeout.Milliseconds(), 10)
	// The writer keeps its statements prepared: preparing some takes longer than
	// running them.
	write := sql.OpenDB(&sqliteConnector{file: file,
		source: source + "&_journal_mode=WAL&_synchronous=FULL&_txlock=immediate&_stmt_cache_size=64"})
	write.SetMaxOpenConns(1)
	read := sql.OpenDB(&sqliteConnector{file: file, source: source + "&_query_only=on"})
	read.SetMaxOpenConns(db.options.MaxConns + maxWatchers)
	read.SetMaxIdleConns(db.options.MaxConns)
	file.closeIdle = func() {
		write.SetMaxIdleConns(0)
		write.SetMaxIdleConns(1)
		read.SetMaxIdleConns(0)
		read.SetMaxIdleConns(db.options.MaxConns)
	}
	db.write, db.read = sqlx.NewDb(write, "sqlite3"), sqlx.NewDb(read, "sqlite3")
	db.migrate = write
	db.closers = []func() error{write.Close, read.Close, file.close}
	db.dialect = &sqlite{read: db.read, refused: file.refused}
	return nil
}

// mattnFailureOf finds an error of go-sqlite3.
func mattnFailureOf(err error) (sqliteFailure, bool) {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return sqliteFailure{}, false
	}
	code := int(e.Code)
	if int(e.ExtendedCode)&0xff == code {
		code = int(e.ExtendedCode)
	}
	return sqliteFailure{code: code, text: e.Error(), system: e.SystemErrno}, true
}

// refused is the class of an error that says that the file system does not let
// this user do something with the database.
func (f *sqliteFile) refused(what string) error {
	who := "this user"
	if u, err := user.Current(); err == nil {
		who = fmt.Sprintf("user %s (%s)", u.Username, u.Uid)
	}
	mode := func(path string) string {
		info, err := os.Stat(path)
		if err != nil {
			return "unknown"
		}
		return info.Mode().String()
	}
	return sentinel{fmt.Sprintf("%s cannot %s the database file %s (mode %s) or its directory (mode %s)",
		who, what, f.given, mode(f.path), mode(filepath.Dir(f.path))), ErrUnavailable}
}
