package world

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver sqlite3

	"github.com/nextrun/nextrun/bench/chaos/internal/database"
)

// Each kind of edit reaches its task.
func TestEditsOnSQLite(t *testing.T) {
	db, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE periodic_task (id, task, timer, overlap, catchup, sink, group_, deadline, jitter, args, nextrun, enabled,
		paused, paused_reason)`); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	if err := Insert(t.Context(), db, r, 1000); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"timer = ''", "overlap = ''"} {
		if _, err := db.Exec("UPDATE periodic_task SET " + change); err != nil {
			t.Fatal(err)
		}
	}
	e := NewEditor(func() *sql.DB { return db }, r, database.SQLite.Now, 1000)
	for range 100 {
		if err := e.edit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, edited := range []string{"timer <> ''", "overlap <> ''", "nextrun > ''", "enabled", "NOT enabled", "paused > ''", "id LIKE 'edited-x%'"} {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM periodic_task WHERE " + edited).Scan(&n); err != nil || n < 2 {
			t.Errorf("%d tasks have %s, %v", n, edited, err)
		}
	}
}
