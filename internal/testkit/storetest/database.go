package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3" // the "sqlite3" driver, for the user's connection

	_ "github.com/nextrun/nextrun/store/postgres" // nextrun opens databases with it
	_ "github.com/nextrun/nextrun/store/sqlite"   // and with it
)

// The kinds of databases: what [Database.Kind] is and how [Both] names the
// subtests.
const (
	Postgres = "postgres"
	SQLite   = "sqlite"
)

// Patience is how long tests wait for something that has to happen. Only a
// failing test waits that long.
const Patience = 4 * time.Minute

// Database is a database of a test's own and a user's view of it: SQL is a
// connection that knows nothing of nextrun. Embed it in the fixture of a suite.
// Exec, One and Want end the test on an error of the database, so call them from
// the test's goroutine only.
type Database struct {
	testing.TB
	Kind string // [Postgres] or [SQLite]
	URL  string
	SQL  *sqlx.DB
}

// Runner is a [testing.T] or [testing.B].
type Runner[T any] interface {
	testing.TB
	Run(name string, run func(T)) bool
}

// Both runs a test, or a benchmark, on an empty database of each kind: tests as
// parallel subtests, named after the kind. What runs must use the t that it gets.
// On the t of its parent a failure would not name the database, and FailNow would
// not end the subtest.
func Both[T Runner[T]](t T, run func(t T, d *Database)) {
	t.Helper()
	Kinds(t, func(t T, kind string) { run(t, New(t, kind)) })
}

// Kinds is [Both] without a database.
func Kinds[T Runner[T]](t T, run func(t T, kind string)) {
	t.Helper()
	for _, kind := range []string{Postgres, SQLite} {
		t.Run(kind, func(t T) {
			if test, ok := any(t).(*testing.T); ok {
				test.Parallel()
			}
			run(t, kind)
		})
	}
}

// New returns an empty database of a kind.
func New(t testing.TB, kind string) *Database {
	t.Helper()
	if kind == SQLite {
		return At(t, SQLiteURL(t))
	}
	return At(t, PostgresURL(t))
}

// At returns a user's view of the database at a URL. It does not connect yet.
func At(t testing.TB, url string) *Database {
	t.Helper()
	d := &Database{TB: t, Kind: Postgres, URL: url}
	if strings.HasPrefix(url, "sqlite:") {
		d.Kind = SQLite
	}
	d.SQL = d.Connect()
	return d
}

// Connect opens one more pool of a user's connections, which is closed with the
// test.
func (d *Database) Connect() *sqlx.DB {
	d.Helper()
	driver, source := "postgres", d.URL
	if path, ok := strings.CutPrefix(d.URL, "sqlite:"); ok {
		driver, source = "sqlite3", "file:"+path+"?_busy_timeout=120000&_foreign_keys=on&_txlock=immediate"
	}
	db, err := sqlx.Open(driver, source)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = db.Close() })
	return db
}

// Exec runs a user's statement, on both databases with ? as the placeholder.
// Without args it may be several statements, and a ? stands for itself.
func (d *Database) Exec(statement string, args ...any) {
	d.Helper()
	if _, err := d.SQL.Exec(d.rebind(statement, args), args...); err != nil {
		d.Fatalf("%s: %v", statement, err)
	}
}

// One returns the value that a user's query yields as text, "" for NULL.
func (d *Database) One(query string, args ...any) string {
	d.Helper()
	var value *string
	if err := d.SQL.Get(&value, d.rebind(query, args), args...); err != nil {
		d.Fatalf("%s: %v", query, err)
	}
	if value == nil {
		return ""
	}
	return *value
}

// Want marks the test as failed unless a query yields this value.
func (d *Database) Want(value any, query string, args ...any) {
	d.Helper()
	if got := d.One(query, args...); got != fmt.Sprint(value) {
		d.Errorf("%s %v\n  got  %s\n  want %v", query, args, got, value)
	}
}

func (d *Database) rebind(statement string, args []any) string {
	if len(args) == 0 {
		return statement
	}
	return d.SQL.Rebind(statement)
}

// Eventually waits until something holds that gives no signal, such as a value
// in the database, and ends the test with its name if it never does.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	pause := 2 * time.Millisecond
	for late := time.Now().Add(Patience); !holds(); <-time.After(pause) {
		if time.Now().After(late) {
			t.Fatalf("waited %s, but not: %s", Patience, what)
		}
		pause = min(pause*5/4, 20*time.Millisecond) // who looks all the time keeps what is waited for from happening
	}
}
