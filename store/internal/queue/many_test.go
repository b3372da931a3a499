package queue

import (
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/store/internal/sqldb"
	"github.com/nextrun/nextrun/store/storetest"
)

// manyKinds opens a database with as many priorities, and as many groups of tasks
// with and without a handler, as may be.
func manyKinds(t *testing.T, url string) *sqldb.DB {
	t.Helper()
	db := backlog(t, url)
	user := storetest.At(t, url)
	for _, statement := range []string{
		`INSERT INTO job (jid, task, group_, priority, submitted) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			SELECT 'p' || i, 't', 'p', i - 10000, '2026-01-01 00:00:00.000000' FROM n`,
		`INSERT INTO job (jid, task, group_, submitted) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			SELECT 'o' || i, 'other', 'g' || i, '2026-01-01 00:00:00.000000' FROM n`,
		`INSERT INTO job (jid, task, group_, submitted) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			SELECT 'm' || i, 'mine', 'g' || i, '2026-01-01 00:00:00.000000' FROM n`,
	} {
		user.Exec(statement)
	}
	return db
}

// A claim takes about as long beside many priorities and groups as without them.
func TestManyKindsDoNotSlowClaims(t *testing.T) {
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		db := manyKinds(t, d.URL)
		claim := backend.Claim{Limit: 1, Tasks: []string{"t", "mine"}, Name: "w", High: 3, Low: 1}
		groups := map[string]bool{}
		const claims = 100
		var took []time.Duration
		for range claims {
			begun := time.Now()
			result, err := New(db).Sync(t.Context(), backend.Request{Worker: "w/1", Claim: claim})
			if err != nil || len(result.Claimed) != 1 {
				t.Fatalf("claimed %d, %v", len(result.Claimed), err)
			}
			took = append(took, time.Since(begun))
			claim.Turn = result.Turn
			groups[result.Claimed[0].Group] = true
		}
		if slices.Sort(took); took[claims/2] > 100*time.Millisecond {
			t.Errorf("a claim took %s in the median", took[claims/2])
		}
		if len(groups) != claims {
			t.Errorf("%d claims served %d groups; each has its turn", claims, len(groups))
		}
		if d.Kind == storetest.Postgres {
			for _, last := range []string{"", "g5", "p", "z"} {
				if read := claimReads(t, db, last); read < 20 || read > 500 {
					t.Errorf("after group %q a claim of 50 jobs reads %g rows of job", last, read)
				}
			}
		}
	})
}
