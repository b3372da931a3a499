package jobs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store/internal/connect"
)

// backlog opens a database with a long queue, many finished jobs, and no
// statistics on either.
func backlog(t testing.TB, url string) *sqldb.DB {
	t.Helper()
	db := empty(t, url)
	user := storetest.At(t, url)
	for _, statement := range []string{
		`INSERT INTO job (jid, task, group_, submitted) VALUES ('b', 't', 'b', '2026-01-01 00:00:00.000000'), ('c', 'u', 'c', '2026-01-01 00:00:00.000000')`,
		`INSERT INTO job (jid, task, group_, submitted) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			SELECT 'a' || i, 't', 'a', '2026-01-01 00:00:00.000000' FROM n`,
		`INSERT INTO job (jid, task, group_, submitted, state, finished) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			SELECT 'f' || i, 't', 'a', '2026-01-01 00:00:00.000000', 'success', '2026-01-01 00:00:00.000000' FROM n`,
	} {
		user.Exec(statement)
	}
	return db
}

func empty(t testing.TB, url string) *sqldb.DB {
	t.Helper()
	db, err := connect.Open(t.Context(), url, sqldb.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// explainClaim returns the lines of the plans of a claim's statements, of task t and
// others.
func explainClaim(t *testing.T, db *sqldb.DB, how, last string, tasks ...string) [][]string {
	t.Helper()
	return explain(t, db, how, last, 50, tasks...)
}

func explain(t *testing.T, db *sqldb.DB, explain, last string, limit int, tasks ...string) (plans [][]string) {
	t.Helper()
	err := db.Update(t.Context(), func(outer *sqldb.Tx) error {
		tx := workTx{jobTx{db.In(storetest.Explainer{DBTX: outer.DBTX(), Explain: explain, Plans: &plans}, outer.Now())}}
		claim := exchange.Claim{Limit: limit, Tasks: append(tasks, "t"), Turn: exchange.Turn{Group: last}, High: 3, Low: 1}
		return claimTx{tx}.claim(t.Context(), "w/1", claim, &exchange.Result{})
	})
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

// A table that was filled a moment ago has no statistics. The planner once took it for one
// with a single job that waits, and compared each job with each of those to be taken.
func TestLargeClaimInANewTableOnPostgres(t *testing.T) {
	const jobs = 8000
	url := storetest.PostgresURL(t)
	user := storetest.At(t, url)
	db := empty(t, url)
	user.Exec("ALTER TABLE job SET (autovacuum_enabled = false)")
	user.Exec("INSERT INTO job (jid, task, group_, submitted) SELECT 'a' || i, 't', 'a', now() FROM generate_series(1, $1) AS i", jobs)
	if read := reads(t, explain(t, db, "EXPLAIN (ANALYZE, FORMAT JSON) ", "", 400), "job", "v"); read < 800 || read > 4*jobs {
		t.Errorf("a claim of 400 of %d jobs reads %g rows", jobs, read)
	}
}

func TestClaimReadsNoBacklogOnPostgres(t *testing.T) {
	db := backlog(t, storetest.PostgresURL(t))
	for _, last := range []string{"", "a", "b", "z"} {
		if read := claimReads(t, db, last); read < 20 || read > 500 {
			t.Errorf("after group %q a claim of 50 jobs reads %g rows of job", last, read)
		}
	}
}

// claimReads is how many rows of job a claim reads on PostgreSQL.
func claimReads(t *testing.T, db *sqldb.DB, last string, tasks ...string) float64 {
	t.Helper()
	return reads(t, explainClaim(t, db, "EXPLAIN (ANALYZE, FORMAT JSON) ", last, tasks...), "job")
}

// reads is how many rows of tables, or aliases, the statements of these plans read.
func reads(t *testing.T, explained [][]string, tables ...string) (read float64) {
	t.Helper()
	for _, lines := range explained {
		var plans []struct{ Plan storetest.PlanNode }
		if err := json.Unmarshal([]byte(strings.Join(lines, "\n")), &plans); err != nil {
			t.Fatal(err)
		}
		read += plans[0].Plan.Read(tables...)
	}
	return read
}

// With limits, a claim also reads the jobs that run, and passes over a backlog of a task
// or a group that is full.
func TestClaimWithLimitsReadsNoBacklogOnPostgres(t *testing.T) {
	url := storetest.PostgresURL(t)
	db, user := backlog(t, url), storetest.At(t, url)
	user.Exec(`INSERT INTO job (jid, task, group_, state, worker) SELECT 'r' || i, 'r', 'r' || i % 10, 'running', 'w' FROM generate_series(1, 40) AS i`)
	for _, limit := range []string{"('handler', 'r', 40)", "('group', 'a', 30)", "('handler', 't', 60)", "('task', 'x', 5)"} {
		user.Exec("INSERT INTO job_limit (kind, name, max) VALUES " + limit)
		if read := claimReads(t, db, ""); read < 20 || read > 1000 {
			t.Errorf("with limit %s a claim of 50 jobs reads %g rows of job", limit, read)
		}
	}
	user.Exec("INSERT INTO job (jid, task, group_, state, worker) SELECT 'f-' || i, 't', 'a', 'running', 'w' FROM generate_series(1, 60) AS i")
	if read := claimReads(t, db, ""); read > 1000 {
		t.Errorf("of a task that is full a claim reads %g rows of job", read)
	}
}

func TestClaimReadsNoBacklogOnSQLite(t *testing.T) {
	db := backlog(t, storetest.SQLiteURL(t))
	allowed := []string{
		"(jid=?)", "(rowid=?)", "(task=? AND group_>?)", "(task=? AND group_<?)", "(task=? AND group_>? AND group_<?)",
		"(task=? AND group_=? AND <expr>=?)",
	}
	searches := 0
	for _, line := range slices.Concat(explainClaim(t, db, "EXPLAIN QUERY PLAN ", "")...) {
		if strings.Contains(line, "ORDER BY") {
			t.Errorf("a claim reads and sorts a backlog: %s", line)
		}
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[1] != "job" && fields[1] != "c" {
			continue
		}
		known := false
		for _, end := range allowed {
			known = known || strings.HasSuffix(line, end)
		}
		// Limits count the jobs that run, which fit into the executors.
		if strings.HasPrefix(line, "SCAN job USING ") && strings.HasSuffix(line, " INDEX nextrun_job_active") {
			continue
		}
		if searches++; !known || fields[0] != "SEARCH" {
			t.Errorf("a claim may read a backlog: %s", line)
		}
	}
	if searches < 6 {
		t.Errorf("only %d accesses to job in the plan", searches)
	}
}
