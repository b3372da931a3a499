// Package sqlite is what package sqldb needs of SQLite: its file, PRAGMA data_version,
// and the answers of [sqldb.Dialect], whatever the driver.
package sqlite

import (
	"database/sql"
	"errors"
	"io/fs"
	"reflect"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// dialect implements [sqldb.Dialect], whatever the driver.
type dialect struct {
	read    *sql.DB
	refused func(what string) error // see file.refused
}

// Refuse refuses options that only PostgreSQL has.
func Refuse(o sqldb.Options) error {
	var listen, schema error
	if o.ListenURL != "" {
		listen = errors.New("store.Options.ListenURL is for PostgreSQL; leave it empty for SQLite")
	}
	if o.Schema != "" {
		schema = errors.New("SQLite has no schemas: leave out --schema (NEXTRUN_SCHEMA, store.Options.Schema), " +
			"and give nextrun a file of its own instead")
	}
	return errors.Join(listen, schema)
}

// Words implements [sqldb.Dialect]: a write transaction holds the whole file, so no row is ever locked.
func (*dialect) Words() sqldb.Words {
	return sqldb.Words{
		Greatest:    "max",
		Least:       "min",
		System:      sqldb.SQLite,
		Version:     "SELECT sqlite_version()",
		Columns:     "SELECT name FROM pragma_table_info($1)",
		Placeholder: "?", // SQLite numbers ?1, and only names $1
	}
}

// FirstRows implements [sqldb.Dialect]. It does without LATERAL: the argument of a table-valued function may
// be a correlated query. It does not order by what is alike: SQLite would sort all rows that meet the condition.
func (*dialect) FirstRows(table, condition, _, order, limit string) string {
	return " CROSS JOIN json_each((SELECT json_group_array(r) FROM (SELECT rowid AS r FROM " + table + " WHERE " + condition +
		" ORDER BY " + order + " LIMIT " + limit + "))) AS e CROSS JOIN " + table + " AS c ON c.rowid = e.value"
}

// The result codes that Class knows; see https://www.sqlite.org/rescode.html. Extended
// ones hold them in their last byte.
const (
	codeError, codePerm, codeBusy, codeLocked, codeNoMem = 1, 3, 5, 6, 7
	codeReadonly, codeInterrupt, codeIOErr, codeFull     = 8, 9, 10, 13
	codeCantOpen, codeProtocol, codeSchema, codeTooBig   = 14, 15, 17, 18
	codeConstraint, codeMismatch, codeNotADB             = 19, 20, 26
	codePrimaryKey, codeUnique                           = codeConstraint | 6<<8, codeConstraint | 8<<8
)

// failure is an error of SQLite, whatever its driver.
type failure struct {
	code   int // extended where the driver tells
	text   string
	system error // of the file system
}

// failureOf finds one among the errors of go-sqlite3, and of drivers whose errors tell
// the extended code, such as modernc.org/sqlite.
func failureOf(err error) (failure, bool) {
	if f, ok := mattnFailureOf(err); ok {
		return f, true
	}
	var coded interface {
		error
		Code() int
	}
	if errors.As(err, &coded) {
		// SQL logic error: no such table: job (1)
		return failure{code: coded.Code(), text: strings.TrimPrefix(coded.Error(), "SQL logic error: ")}, true
	}
	return failure{}, false
}

// mattnFailureOf finds an error of go-sqlite3. Its codes are fields of a struct. The driver
// is not imported, so they are read by name.
func mattnFailureOf(err error) (f failure, found bool) {
	switch wrapped := err.(type) { //nolint:errorlint // it unwraps
	case nil:
		return f, false
	case interface{ Unwrap() error }:
		return mattnFailureOf(wrapped.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range wrapped.Unwrap() {
			if f, found = mattnFailureOf(one); found {
				break
			}
		}
		return f, found
	}
	v := reflect.Indirect(reflect.ValueOf(err))
	if v.Kind() != reflect.Struct || !strings.HasSuffix(v.Type().PkgPath(), "go-sqlite3") {
		return f, false
	}
	code, extended, system := v.FieldByName("Code"), v.FieldByName("ExtendedCode"), v.FieldByName("SystemErrno")
	if !code.CanInt() || !extended.CanInt() || !system.IsValid() {
		return f, false
	}
	f = failure{code: int(code.Int()), text: err.Error()}
	f.system, _ = system.Interface().(error)
	if int(extended.Int())&0xff == f.code {
		f.code = int(extended.Int())
	}
	return f, true
}

// Class implements [sqldb.Dialect]. It maps result codes.
func (d *dialect) Class(err error) error {
	f, ok := failureOf(err)
	if !ok {
		return nil
	}
	switch f.code & 0xff {
	case codeError:
		return textClass(f.text)
	case codeBusy, codeLocked, codeInterrupt, codeProtocol, codeSchema:
		return sqldb.ErrBusy
	case codeCantOpen:
		if errors.Is(f.system, fs.ErrPermission) {
			return d.refused("open")
		}
		return sqldb.ErrUnavailable
	case codeIOErr, codeFull, codeNoMem:
		return sqldb.ErrUnavailable
	case codeNotADB:
		return sqldb.ErrNoFile
	case codeReadonly, codePerm:
		return d.refused("write")
	case codeConstraint: // RAISE in a trigger, too
		if f.code == codePrimaryKey || f.code == codeUnique {
			return sqldb.ErrDuplicate
		}
		return sqldb.ErrRefused
	case codeTooBig, codeMismatch:
		return sqldb.ErrRefused
	}
	return nil
}

// textClass is the class of an error whose code stands for many: only its text says what it is.
func textClass(text string) error {
	for prefix, class := range map[string]error{
		"no such table": sqldb.ErrNoSchema, "no such column": sqldb.ErrNoSchema,
		"malformed JSON": sqldb.ErrRefused, "integer overflow": sqldb.ErrRefused, // a function in a trigger or an index
	} {
		if strings.HasPrefix(text, prefix) {
			if prefix == "no such table" && !sqldb.IsOurTable(text) {
				return nil // a table of a trigger of the user's, or of another queue
			}
			return class
		}
	}
	return nil
}

// Said implements [sqldb.Dialect].
func (*dialect) Said(err error) sqldb.Said {
	f, _ := failureOf(err)
	return sqldb.Said{Message: f.text}
}
