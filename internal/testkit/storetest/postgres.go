package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	_ "github.com/lib/pq" // the "postgres" driver, to create databases with
)

// ServerVariable names the environment variable with the URL of the PostgreSQL
// server to test on: postgres://..., a user who may create databases. Empty
// means that scripts/with-postgres provides one.
const ServerVariable = "NEXTRUN_TEST_POSTGRES"

// adminTimeout bounds the creation and the removal of a database.
const adminTimeout = Patience

// SQLiteURL returns the URL of a SQLite database that does not exist yet, in a
// directory that is removed with the test.
func SQLiteURL(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "nextrun-test-") //nolint:usetesting // GOTMPDIR, where T.TempDir is, stays on the disk
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return "sqlite:" + filepath.Join(dir, "nextrun.db")
}

// PostgresURL returns the URL of an empty PostgreSQL database of the test's
// own, which is dropped when the test ends, whoever is still connected. The
// server is shared by all tests of the process and ends with it.
func PostgresURL(t testing.TB) string {
	t.Helper()
	return postgresCopy(t, emptyDatabase)
}

// emptyDatabase has what PostgreSQL needs and nothing that somebody added.
const emptyDatabase = "template0"

// postgresCopy returns the URL of a copy of a database on the shared server.
func postgresCopy(t testing.TB, origin string) string {
	t.Helper()
	Need(t, Postgres)
	server, err := sharedServer()
	if err != nil {
		t.Fatalf("PostgreSQL for the test: %v", err)
	}
	name, address, err := createDatabase(server, origin)
	if err != nil {
		t.Fatalf("PostgreSQL for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := dropDatabase(server, name); err != nil {
			t.Errorf("PostgreSQL after the test: %v", err)
		}
	})
	return address
}

// sharedServer returns the URL of the server for all tests of this process. The
// process that keeps it, if any, stays reachable in the package's variable.
func sharedServer() (string, error) {
	if given := os.Getenv(ServerVariable); given != "" {
		return given, nil
	}
	keeper, err := sharedKeeper()
	if err != nil {
		return "", err
	}
	return keeper.url, nil
}

var sharedKeeper = sync.OnceValues(func() (*keeper, error) { return startKeeper(os.Environ()) })

// createDatabase returns the name and the URL of a new database on a server, a copy
// of another one.
func createDatabase(server, origin string) (name, address string, err error) {
	u, err := url.Parse(server)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		// Neither the URL nor the parser's error, which quotes it, is shown: there is a password in it.
		return "", "", errors.New(ServerVariable + " is not a URL such as postgres://USER:PASSWORD@HOST:5432/postgres")
	}
	name = fmt.Sprintf("nextrun_test_%d_%s", os.Getpid(), rand.Text())
	err = administer(server, func(ctx context.Context, db *sql.DB) error {
		strategy, err := copyStrategy(ctx, db)
		if err != nil {
			return err
		}
		return execute(ctx, db, `CREATE DATABASE "%s" TEMPLATE "%s"`+strategy, name, origin)
	})
	if err != nil {
		return "", "", err
	}
	u.Path = "/" + name
	return name, u.String(), nil
}

// copyStrategy has the server copy the files of a database. To write each page to the log
// takes longer, and the first connection has to fill the cache of the catalogs, which is one
// of the files. Before version 15 there was no other way.
func copyStrategy(ctx context.Context, db *sql.DB) (string, error) {
	var choice bool
	if err := db.QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int >= 150000").Scan(&choice); err != nil {
		return "", fmt.Errorf("ask for the server's version: %w", err)
	}
	if choice {
		return " STRATEGY file_copy", nil
	}
	return "", nil
}

func dropDatabase(server, name string) error {
	return administer(server, func(ctx context.Context, db *sql.DB) error {
		return execute(ctx, db, `DROP DATABASE IF EXISTS "%s" WITH (FORCE)`, name)
	})
}

// administer opens a connection of its own.
func administer(server string, do func(ctx context.Context, db *sql.DB) error) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	db, err := sql.Open("postgres", server)
	if err != nil {
		return errors.New(ServerVariable + " is not a connection URL that lib/pq accepts")
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return do(ctx, db)
}

var databaseName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)

// execute executes a statement with names of databases in it, which cannot be
// parameters.
func execute(ctx context.Context, db *sql.DB, format string, names ...any) error {
	for _, name := range names {
		if !databaseName.MatchString(fmt.Sprint(name)) {
			return fmt.Errorf("%q is no name for a test's database", name)
		}
	}
	statement := fmt.Sprintf(format, names...)
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
