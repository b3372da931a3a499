//go:build linux

package main

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// Each kind of edit reaches its task.
func TestEdits(t *testing.T) {
	db := must.Get(sql.Open("sqlite3", filepath.Join(t.TempDir(), "x.db")))
	defer db.Close()
	must.Nil(execute(t.Context(), db, `CREATE TABLE periodic_task (id, task, timer, overlap, catchup, sink, group_, deadline, jitter, args, nextrun, enabled,
		paused, paused_reason)`))
	e := newEditor(t.Context(), func() *sql.DB { return db }, rand.New(rand.NewPCG(1, 2)), 1000)
	must.Nil(execute(t.Context(), db, "UPDATE periodic_task SET timer = '', overlap = ''"))
	for range 100 {
		must.Nil(e.edit(t.Context()))
	}
	for _, edited := range []string{"timer <> ''", "overlap <> ''", "nextrun > ''", "enabled", "NOT enabled", "paused > ''", "id LIKE 'edited-x%'"} {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM periodic_task WHERE " + edited).Scan(&n); err != nil || n < 2 {
			t.Errorf("%d tasks have %s, %v", n, edited, err)
		}
	}
}
