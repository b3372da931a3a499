package store_test

import (
	"io"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// tasksEnv is a fresh database with its tasks, and a connection that knows
// nothing of nextrun.
type tasksEnv struct {
	*storetest.Database
	tasks *periodic.Tasks
	db    *store.DB
}

// tasksOn runs a test on a fresh database of each kind.
func tasksOn(t *testing.T, test func(t *testing.T, env tasksEnv)) {
	t.Helper()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		env := tasksEnv{Database: d.Database, tasks: periodic.NewTasks(d.Store.Tasks()), db: d.Store}
		test(t, env)
	})
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// texts runs a query of one column.
func (e tasksEnv) texts(t *testing.T, query string) (list []string) {
	t.Helper()
	if err := e.SQL.Select(&list, query); err != nil {
		t.Fatal(err)
	}
	return list
}

// schedule plans and submits what is due.
func (e tasksEnv) schedule(t *testing.T) {
	t.Helper()
	(&migrated.Database{Database: e.Database, Store: e.db}).Schedule()
}
