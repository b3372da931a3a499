package sqldb

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/nextrun/nextrun/migrations"
)

// sqlite is the dialect of SQLite, whatever its driver.
type sqlite struct {
	read    *sqlx.DB
	refused func(what string) error // see sqliteFile.refused
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

// The result codes that class knows; see https://www.sqlite.org/rescode.html. Extended
// ones hold them in their last byte.
const (
	sqliteError, sqlitePerm, sqliteBusy, sqliteLocked, sqliteNoMem = 1, 3, 5, 6, 7
	sqliteReadonly, sqliteInterrupt, sqliteIOErr, sqliteFull       = 8, 9, 10, 13
	sqliteCantOpen, sqliteProtocol, sqliteSchema, sqliteTooBig     = 14, 15, 17, 18
	sqliteConstraint, sqliteMismatch, sqliteNotADB                 = 19, 20, 26
	sqlitePrimaryKey, sqliteUnique                                 = sqliteConstraint | 6<<8, sqliteConstraint | 8<<8
)

// sqliteFailure is an error of SQLite, whatever its driver.
type sqliteFailure struct {
	code   int // extended where the driver tells
	text   string
	system error // of the file system
}

// sqliteFailureOf finds one among the errors of go-sqlite3, where it is linked, and of
// drivers whose errors tell the extended code, such as modernc.org/sqlite.
func sqliteFailureOf(err error) (sqliteFailure, bool) {
	if f, ok := mattnFailureOf(err); ok {
		return f, true
	}
	var coded interface {
		error
		Code() int
	}
	if errors.As(err, &coded) {
		// SQL logic error: no such table: job (1)
		return sqliteFailure{code: coded.Code(), text: strings.TrimPrefix(coded.Error(), "SQL logic error: ")}, true
	}
	return sqliteFailure{}, false
}

// class maps result codes.
func (s *sqlite) class(err error) error {
	f, ok := sqliteFailureOf(err)
	if !ok {
		return nil
	}
	switch f.code & 0xff {
	case sqliteError:
		return sqliteTextClass(f.text)
	case sqliteBusy, sqliteLocked, sqliteInterrupt, sqliteProtocol, sqliteSchema:
		return ErrBusy
	case sqliteCantOpen:
		if errors.Is(f.system, fs.ErrPermission) {
			return s.refused("open")
		}
		return ErrUnavailable
	case sqliteIOErr, sqliteFull, sqliteNoMem, sqliteNotADB:
		return ErrUnavailable
	case sqliteReadonly, sqlitePerm:
		return s.refused("write")
	case sqliteConstraint: // RAISE in a trigger, too
		if f.code == sqlitePrimaryKey || f.code == sqliteUnique {
			return ErrDuplicate
		}
		return ErrRefused
	case sqliteTooBig, sqliteMismatch:
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
