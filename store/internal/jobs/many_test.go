package jobs

import (
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// manyKinds opens a database with 20,000 priorities, with 20,000 groups of a task that has
// a handler and of one that has none, and with 1,000 other tasks without a handler.
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
		`INSERT INTO job (jid, task, group_, submitted) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			SELECT 'k' || i, 'k' || i % 1000, 'g' || i, '2026-01-01 00:00:00.000000' FROM n`,
	} {
		user.Exec(statement)
	}
	return db
}

// A claim reads no more beside many priorities, groups and tasks than without them, and
// takes jobs of a group that is alone beside them.
func TestManyKindsDoNotSlowClaims(t *testing.T) {
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		db := manyKinds(t, d.URL)
		claim := exchange.Claim{Limit: 1, Tasks: []string{"t", "mine"}, Name: "w", High: 3, Low: 1}
		groups := map[string]bool{}
		const claims = 100
		for range claims {
			result, err := New(db).Sync(t.Context(), exchange.Request{Worker: "w/1", Claim: claim})
			if err != nil || len(result.Claimed) != 1 {
				t.Fatalf("claimed %d, %v", len(result.Claimed), err)
			}
			claim.Turn = result.Turn
			groups[result.Claimed[0].Group] = true
		}
		if len(groups) != claims {
			t.Errorf("%d claims served %d groups; each has its turn", claims, len(groups))
		}
		if d.Kind == storetest.Postgres {
			for _, last := range []string{"", "g5", "p", "z"} {
				for _, tasks := range [][]string{nil, {"mine"}, {"mine", "k1", "k2", "gone"}} {
					if read := claimReads(t, db, last, tasks...); read < 20 || read > 800 {
						t.Errorf("after group %q a claim of 50 jobs of %q reads %g rows of job", last, tasks, read)
					}
				}
			}
		}
	})
}
