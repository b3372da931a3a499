package postgres

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Class implements [sqldb.Dialect]. It maps SQLSTATE codes; see PostgreSQL's appendix A, "Error Codes".
func (*dialect) Class(err error) error {
	if f, ok := failureOf(err); ok {
		return classOf(f)
	}
	var netErr net.Error
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, sql.ErrConnDone) || errors.As(err, &netErr) || neverSent(err) {
		return sqldb.ErrUnavailable
	}
	return nil
}

// failure is an error that the server has sent, whatever the driver.
type failure struct{ code, severity, message, where, detail string }

// failureOf finds one among the errors of lib/pq and of pgx. Both have a
// method for the code and fields of the same names for the rest; pgx is not imported,
// so they are read by name.
func failureOf(err error) (failure, bool) {
	var sent interface {
		error
		SQLState() string
	}
	if !errors.As(err, &sent) {
		return failure{}, false
	}
	field := func(name string) string {
		if v := reflect.Indirect(reflect.ValueOf(sent)); v.Kind() == reflect.Struct {
			if f := v.FieldByName(name); f.IsValid() && f.CanInterface() {
				return fmt.Sprint(f.Interface())
			}
		}
		return ""
	}
	f := failure{sent.SQLState(), field("SeverityUnlocalized"), field("Message"), field("Where"), field("Detail")}
	if f.severity == "" {
		f.severity = field("Severity")
	}
	return f, true
}

// Said implements [sqldb.Dialect].
func (*dialect) Said(err error) sqldb.Said {
	f, _ := failureOf(err)
	return sqldb.Said{Code: f.code, Message: f.message, Detail: f.detail, Where: f.where}
}

// neverSent reports whether pgx says that a statement did not reach the server, for
// instance since the connection is closed.
func neverSent(err error) bool {
	var failed interface {
		error
		SafeToRetry() bool
	}
	return errors.As(err, &failed) && failed.SafeToRetry()
}

// sqlStates are the codes with a class of their own, and the classes of codes by
// the first two characters.
var sqlStates = map[string]error{
	"23505": sqldb.ErrDuplicate,
	"22":    sqldb.ErrRefused,                                                          // data exceptions
	"23":    sqldb.ErrRefused,                                                          // constraints
	"44000": sqldb.ErrRefused,                                                          // WITH CHECK OPTION of a view
	"54000": sqldb.ErrRefused,                                                          // too large for an index
	"54001": sqldb.ErrRefused,                                                          // nested too deeply
	"P0":    sqldb.ErrRefused,                                                          // a trigger raised it
	"42P01": sqldb.ErrNoSchema, "42703": sqldb.ErrNoSchema, "42883": sqldb.ErrNoSchema, // no such table, column, function
	"42501": sqldb.ErrDenied,
	"55P03": sqldb.ErrContended, "57014": sqldb.ErrContended, // lock and statement timeout
	"40001": sqldb.ErrConflict, "40P01": sqldb.ErrConflict, // serialization, deadlock
	"08": sqldb.ErrUnavailable, "53": sqldb.ErrUnable, "58": sqldb.ErrUnable, // connection, resources, system
	"57P01": sqldb.ErrUnavailable, "57P02": sqldb.ErrUnavailable, "57P03": sqldb.ErrUnavailable, // shutdown, crash, start
	"57P05": sqldb.ErrUnavailable, "25P03": sqldb.ErrUnavailable, "25P04": sqldb.ErrUnavailable, // the server ended the session
	"25006": sqldb.ErrUnable, // a standby
}

// classOf is the class of an error that the server has sent. It is nil
// where the code stands for the whole database, or for its tables, but the error
// may come from one row: the server could not read it, or a trigger raised the
// code, such as one that asks a remote server.
func classOf(err failure) error {
	code := err.code
	if code == "23505" && (strings.Contains(err.message, "outbox_message_pkey") || strings.Contains(err.message, "event_store_pkey")) {
		return sqldb.ErrSequence
	}
	class, ok := sqlStates[code]
	if !ok && len(code) == 5 {
		class = sqlStates[code[:2]]
	}
	if errors.Is(class, sqldb.ErrUnavailable) && !ofDatabase(err) || errors.Is(class, sqldb.ErrNoSchema) && !ofSchema(err) ||
		errors.Is(class, sqldb.ErrDenied) && !ofRights(err) {
		return nil
	}
	return class
}

// ofDatabase reports whether an error of a code that stands for the database
// concerns all of it: the session is over, or the server refused a statement of
// ours because the database is a standby or the disk is full. A server that
// speaks another language may name the severity ERROR in that language.
func ofDatabase(err failure) bool {
	switch err.severity {
	case "FATAL", "PANIC":
		return true
	case "ERROR":
		return err.where == "" && (err.code == "25006" || err.code == "53100")
	}
	return err.where == ""
}

// ofRights reports whether a right on one of nextrun's tables is missing. A trigger of others may lack one, and row
// security refuses what a tenant must not write.
func ofRights(err failure) bool {
	return err.where == "" && sqldb.IsOurTable(err.message) && !strings.Contains(err.message, "row-level security")
}

// ofSchema reports whether a table, a column or a function that does not exist is
// one of nextrun's.
func ofSchema(err failure) bool {
	if err.code == "42P01" {
		return sqldb.IsOurTable(err.message)
	}
	function, _, _ := strings.Cut(err.where, "\n") // the innermost; empty: a statement of ours
	return function == "" || strings.Contains(function, " nextrun_")
}
