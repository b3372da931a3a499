//go:build linux

package main

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/nextrun/nextrun/bench/chaos/audit"
	"github.com/nextrun/nextrun/bench/internal/must"
)

// Each kind of edit reaches its task.
func TestEdits(t *testing.T) {
	db := must.Get(sql.Open("sqlite3", filepath.Join(t.TempDir(), "x.db")))
	defer db.Close()
	must.Nil(execute(t.Context(), db, `CREATE TABLE periodic_task (id, task, timer, overlap, catchup, sink, group_, deadline, jitter, args, due, nextrun, enabled,
		paused, paused_reason, exclude_calendars)`, "CREATE TABLE periodic_calendar (name, first_day, last_day)", "CREATE TABLE job_limit (kind, name, max)",
		audit.Tables("sqlite")))
	e := newEditor(t.Context(), func() *sql.DB { return db }, rand.New(rand.NewPCG(1, 2)), 1000, []string{"mail"})
	must.Nil(execute(t.Context(), db, "UPDATE periodic_task SET timer = '', overlap = ''"))
	for range 600 {
		must.Nil(e.edit(t.Context()))
	}
	for _, what := range []string{audit.Slow, audit.Narrow, audit.Closed} {
		var n int
		if err := db.QueryRow("SELECT count(DISTINCT value) FROM chaos_rule WHERE what = $1", what).Scan(&n); err != nil || n < 2 {
			t.Errorf("%s had %d values, %v", what, n, err)
		}
	}
	for _, edited := range []string{"timer <> ''", "overlap <> ''", "nextrun > ''", "enabled", "NOT enabled", "paused > ''", "id LIKE 'edited-x%'"} {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM periodic_task WHERE " + edited).Scan(&n); err != nil || n < 2 {
			t.Errorf("%d tasks have %s, %v", n, edited, err)
		}
	}
}
