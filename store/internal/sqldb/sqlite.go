package sqldb

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"

	"github.com/nextrun/nextrun/migrations"
)

// sqlite is the dialect of SQLite as go-sqlite3 bundles it.
type sqlite struct {
	read *sqlx.DB
	file *sqliteFile
}

func (db *DB) openSQLite() error {
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
	db.migrate, db.file = write, file
	db.dialect = &sqlite{read: db.read, file: file}
	return nil
}

// words: a write transaction holds the whole file, so no row is ever locked.
func (*sqlite) words() Words {
	return Words{
		Greatest: "max",
		Least:    "min",
		dialect:  migrations.SQLite,
		version:  "SELECT sqlite_version()",
		columns:  "SELECT name FROM pragma_table_info($1)",
		digest:   "{}",
		key:      "lower(hex({}))",
		fromKey:  "CAST(unhex({}) AS TEXT)",
	}
}

// rebind writes $1 as ?1: SQLite numbers the latter, and only names the former.
// No statement of this module has a $ elsewhere.
func (*sqlite) rebind(query string) string { return strings.ReplaceAll(query, "$", "?") }

func (*sqlite) clock(_, at int) string { return fmt.Sprintf("$%d", at) }

// firstRows does without LATERAL: the argument of a table-valued function may
// be a correlated query.
func (*sqlite) firstRows(table, condition, order, limit string) string {
	return " CROSS JOIN json_each((SELECT json_group_array(r) FROM (SELECT rowid AS r FROM " + table + " WHERE " + condition +
		" ORDER BY " + order + " LIMIT " + limit + "))) AS e CROSS JOIN " + table + " AS c ON c.rowid = e.value"
}

// class maps result codes; see https://www.sqlite.org/rescode.html.
func (s *sqlite) class(err error) error {
	var sqliteErr sqlite3.Error
	if !errors.As(err, &sqliteErr) {
		return nil
	}
	switch sqliteErr.Code {
	case sqlite3.ErrError:
		return sqliteTextClass(sqliteErr.Error())
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrInterrupt, sqlite3.ErrProtocol, sqlite3.ErrSchema:
		return ErrBusy
	case sqlite3.ErrCantOpen:
		if errors.Is(sqliteErr.SystemErrno, fs.ErrPermission) {
			return s.file.refused("open")
		}
		return ErrUnavailable
	case sqlite3.ErrIoErr, sqlite3.ErrFull, sqlite3.ErrNomem, sqlite3.ErrNotADB:
		return ErrUnavailable
	case sqlite3.ErrReadonly, sqlite3.ErrPerm:
		return s.file.refused("write")
	case sqlite3.ErrConstraint: // RAISE in a trigger, too
		if sqliteErr.ExtendedCode == sqlite3.ErrConstraintPrimaryKey ||
			sqliteErr.ExtendedCode == sqlite3.ErrConstraintUnique {
			return ErrDuplicate
		}
		return ErrRefused
	case sqlite3.ErrTooBig, sqlite3.ErrMismatch:
		return ErrRefused
	}
	return nil
}

// sqliteTextClass is the class of an error that has no code of its own: only its
// text says what it is.
func sqliteTextClass(text string) error {
	for prefix, class := range map[string]error{
		"no such table": ErrNoSchema, "no such column": ErrNoSchema,
		"malformed JSON": ErrRefused, "integer overflow": ErrRefused, // a function in a trigger or an index
	} {
		if strings.HasPrefix(text, prefix) {
			if prefix == "no such table" && !ownTable.MatchString(text) {
				return nil // a table of a trigger of the user's, or of another queue
			}
			return class
		}
	}
	return nil
}
