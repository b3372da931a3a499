package storetest_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

func TestSQLiteURLIsNew(t *testing.T) {
	first, second := storetest.SQLiteURL(t), storetest.SQLiteURL(t)
	if first == second {
		t.Errorf("two databases share the URL %s", first)
	}
	path, found := strings.CutPrefix(first, "sqlite:")
	if !found || !filepath.IsAbs(path) {
		t.Errorf("SQLiteURL = %q, want sqlite: and an absolute path", first)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("%s exists already (%v)", path, err)
	}
}

func TestPostgresURLIsEmptyAndApart(t *testing.T) {
	first, second := connect(t, storetest.PostgresURL(t)), connect(t, storetest.PostgresURL(t))
	execute(t, first, `CREATE TABLE job (jid text)`)
	for name, db := range map[string]*sql.DB{"first": first, "second": second} {
		tables := query[int](t, db, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`)
		if want := map[string]int{"first": 1, "second": 0}[name]; tables != want {
			t.Errorf("the %s database has %d tables, want %d", name, tables, want)
		}
	}
}

func TestPostgresURLIsDroppedWithItsTest(t *testing.T) {
	admin := connect(t, storetest.PostgresURL(t))
	exists := func(name string) bool {
		return query[bool](t, admin, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name)
	}
	var name string
	t.Run("user", func(t *testing.T) {
		address := storetest.PostgresURL(t)
		// Left open on purpose, so that the database has a user when it is dropped.
		db, err := sql.Open("postgres", address)
		if err != nil {
			t.Fatal(err)
		}
		name = query[string](t, db, `SELECT current_database()`)
		if !exists(name) {
			t.Errorf("database %s is not there during its test", name)
		}
	})
	if exists(name) {
		t.Errorf("database %s is still there after its test", name)
	}
}

func TestPostgresURLInParallel(t *testing.T) {
	for range 8 {
		t.Run("test", func(t *testing.T) {
			t.Parallel()
			execute(t, connect(t, storetest.PostgresURL(t)), `CREATE TABLE job (jid text)`)
		})
	}
}

func TestPostgresURLHidesThePassword(t *testing.T) {
	t.Setenv("NEXTRUN_TEST_WITHOUT", "")
	for _, given := range []string{"postgres://u:hush@ho st/x", "mysql://u:hush@localhost/x", "u:hush@localhost"} {
		t.Setenv(storetest.ServerVariable, given)
		recorder := &recorder{TB: t}
		message := recorder.record(func() { storetest.PostgresURL(recorder) })
		if !strings.Contains(message, storetest.ServerVariable) || strings.Contains(message, "hush") {
			t.Errorf("%s: the message is %q, want the variable's name and not the password", given, message)
		}
	}
}
