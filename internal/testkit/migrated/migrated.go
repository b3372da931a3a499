// Package migrated gives each test a database with the tables of nextrun in it. It is
// for all tests but those of the connection and of the migrations, which use
// [storetest] alone.
package migrated

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// Database is a database of a test's own: Store is how nextrun sees it.
type Database struct {
	*storetest.Database
	Store *store.DB
}

// Both is [storetest.Both] on databases that have the tables.
func Both[T storetest.Runner[T]](t T, run func(t T, d *Database)) {
	t.Helper()
	storetest.Kinds(t, func(t T, kind string) { run(t, New(t, kind)) })
}

// New returns a database of a kind. It is a copy of one that was migrated before if
// the tests of the package run under [VerifyTestMain].
func New(t testing.TB, kind string) *Database {
	t.Helper()
	if !copies.Load() {
		return Up(storetest.New(t, kind))
	}
	return Open(template.New(t, kind))
}

// Up makes the tables in a database, whatever is in it.
func Up(d *storetest.Database) *Database {
	d.Helper()
	up := open(d, d.URL)
	if _, err := migrations.Of(up.Store).Up(d.Context()); err != nil {
		d.Fatal(err)
	}
	return up // as the owner, who has migrated
}

// Open opens the database once more, as another process would.
func (d *Database) Open() *store.DB {
	d.Helper()
	return Open(d.Database).Store
}

// Open opens a database that has the tables. It has more patience than users have by
// default, but for locks of PostgreSQL.
func Open(d *storetest.Database) *Database {
	d.Helper()
	return openAs(d, packageRoles)
}

// openStore is another function where scripts/test-pgx runs the tests over pgx.
var openStore = func(d *storetest.Database, address string, o store.Options) (*store.DB, error) {
	return store.Open(d.Context(), address, o)
}

func open(d *storetest.Database, address string) *Database {
	d.Helper()
	options := store.Options{Create: true, ConnectTimeout: storetest.Patience, IdleTimeout: sqldb.DefaultStatementTimeout}
	if d.Kind == storetest.SQLite { // writers that all take turns, on a slow machine
		options.LockTimeout = storetest.Patience
	}
	db, err := openStore(d, address, options)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		if err := db.Close(); err != nil {
			d.Error(err)
		}
	})
	return &Database{Database: d, Store: db}
}

var (
	template = storetest.NewTemplate(migrate)
	copies   atomic.Bool // somebody drops the template
)

func migrate(url string) (err error) {
	db, err := store.Open(context.Background(), url, store.Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := migrations.Of(db).Up(context.Background()); err != nil {
		return err
	}
	return grant(url)
}

// atOnce is how many tests run at once, unless -parallel says so: most of them wait
// for a database most of the time.
const atOnce = "6"

// VerifyTestMain runs the tests of a package. It fails if they leave goroutines
// behind, and removes what the databases were copied from.
func VerifyTestMain(m *testing.M) {
	copies.Store(true)
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err)
		}
	}
	// pq's listener sleeps between attempts to connect, for up to 10 s, before it notices
	// that it was closed. Who has forgotten to close one waits in Watch, and is found.
	closing := goleak.IgnoreAnyFunction("github.com/lib/pq.(*Listener).listenerConnLoop")
	goleak.VerifyTestMain(m, closing, goleak.Cleanup(func(code int) {
		if err := template.Drop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		os.Exit(code)
	}))
}
