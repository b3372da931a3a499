package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// The check of tasks that are due does not read all jobs for each of them, which would take
// minutes where there are many.
func TestTasksThatNobodyTakesAreCheckedByIndexes(t *testing.T) {
	t.Parallel()
	url := storetest.SQLiteURL(t)
	db, err := store.Open(t.Context(), url, store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := checks()
	check := list[slices.IndexFunc(list, func(c check) bool { return c.Name == "tasks that nobody takes" })]
	rows, err := storetest.At(t, url).SQL.QueryContext(t.Context(), `EXPLAIN QUERY PLAN
		WITH p AS (SELECT '2026-03-01 12:00:00.000000' AS since, '2026-03-01 12:00:00.000000' AS stale, '2026-03-01 12:00:00.000000' AS recent) `+check.query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(plan, "\n")
	for _, index := range []string{"j USING INDEX nextrun_job_pending", "j USING INDEX nextrun_job_finished"} {
		if !strings.Contains(text, index) {
			t.Errorf("not %q in\n%s", index, text)
		}
	}
}
