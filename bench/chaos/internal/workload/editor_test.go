package workload

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
	statements := []string{`CREATE TABLE periodic_task (id, task, timer, overlap, catchup, sink, group_, deadline, jitter, args, nextrun, enabled,
		paused, paused_reason)`}
	for _, column := range []string{"timer", "overlap", "nextrun", "enabled", "paused"} {
		statements = append(statements, `CREATE TABLE edits_`+column+` (id)`,
			`CREATE TRIGGER on_`+column+` AFTER UPDATE OF `+column+` ON periodic_task BEGIN INSERT INTO edits_`+column+` VALUES (NEW.id); END`)
	}
	if err := database.Exec(t.Context(), db, statements...); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	if err := Insert(t.Context(), db, r, 1000); err != nil {
		t.Fatal(err)
	}
	e := NewEditor(func() *sql.DB { return db }, r, database.SQLite.Now, 1000)
	const edits = 200
	for range edits {
		if err := e.edit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for column, of10 := range map[string]int{"timer": 2, "overlap": 1, "nextrun": 1, "enabled": 3, "paused": 1} {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM edits_" + column).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n < edits*of10/10/3 {
			t.Errorf("%d edits of %s reached a task, of %d", n, column, edits)
		}
	}
}
