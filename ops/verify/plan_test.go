package verify

import (
	"errors"
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
	check := checks[slices.IndexFunc(checks, func(c check) bool { return c.Name == "tasks that nobody takes" })]
	var plans [][]string
	explainer := storetest.Explainer{DBTX: storetest.At(t, url).SQL, Explain: "EXPLAIN QUERY PLAN ", Plans: &plans}
	rows, err := explainer.QueryContext(t.Context(),
		`WITH p AS (SELECT '2026-03-01 12:00:00.000000' AS since, '2026-03-01 12:00:00.000000' AS stale, '2026-03-01 12:00:00.000000' AS recent) `+check.query)
	if err == nil {
		err = errors.Join(rows.Err(), rows.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(plans[0], "\n")
	for _, index := range []string{"j USING INDEX nextrun_job_pending", "j USING INDEX nextrun_job_finished"} {
		if !strings.Contains(text, index) {
			t.Errorf("not %q in\n%s", index, text)
		}
	}
}
