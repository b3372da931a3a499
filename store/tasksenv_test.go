package store_test

import (
	"database/sql"
	"io"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/storetest"
)

// tasksEnv is a fresh database with its tasks, and a connection that knows
// nothing of nextrun.
type tasksEnv struct {
	tasks *periodic.Tasks
	db    *store.DB
	sql   *sql.DB
}

// tasksOn runs a test on a fresh database of each kind.
func tasksOn(t *testing.T, test func(t *testing.T, env tasksEnv)) {
	t.Helper()
	for driver, newURL := range map[string]func(testing.TB) string{
		"postgres": storetest.PostgresURL, "sqlite3": storetest.SQLiteURL,
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			url := newURL(t)
			db, err := store.Open(t.Context(), url, store.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { closed(t, db) })
			if _, err := db.Migrator().Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			source := url
			if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
				source = "file:" + path + "?_txlock=immediate&_busy_timeout=5000"
			}
			outer, err := sql.Open(driver, source)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { closed(t, outer) })
			env := tasksEnv{tasks: periodic.NewTasks(db.Tasks()), db: db, sql: outer}
			env.exec(t, "DELETE FROM periodic_task") // the housekeeping that the migrations add
			test(t, env)
		})
	}
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// exec runs a statement as a user would.
func (e tasksEnv) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := e.sql.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// texts runs a query of one column.
func (e tasksEnv) texts(t *testing.T, query string) (list []string) {
	t.Helper()
	rows, err := e.sql.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// schedule plans and submits what is due.
func (e tasksEnv) schedule(t *testing.T) {
	t.Helper()
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	s, err := periodic.New(e.db.Periodic(), periodic.Config{Name: "test", Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
}
