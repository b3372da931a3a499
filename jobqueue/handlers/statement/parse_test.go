package statement

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SELECT 1":  "SELECT 1",
		"SELECT 1;": "SELECT 1;",
		"INSERT INTO t VALUES (:day::date, :n, :day)":      "INSERT INTO t VALUES ($1::date, $2, $1) day n",
		"SELECT ':no;', \":no;\", E'\\':no;', 'it''s :no'": "SELECT ':no;', \":no;\", E'\\':no;', 'it''s :no'",
		"SELECT $$ :no; $$, $f$ $$ :no; $f$":               "SELECT $$ :no; $$, $f$ $$ :no; $f$",
		"SELECT 1 -- :no; x\n, 2":                          "SELECT 1 -- :no; x\n, 2",
		"SELECT /* :no; */ :x":                             "SELECT /* :no; */ $1 x",
		"SELECT f(a := 1), x[1 : 2], '12:30', t12::time":   "SELECT f(a := 1), x[1 : 2], '12:30', t12::time",
		"SELECT 'open :no;":                                "SELECT 'open :no;",
		"UPDATE t SET commit = 1, é = :é":                  "UPDATE t SET commit = 1, é = :é",
		"DO $$ BEGIN COMMIT; END $$":                       "DO $$ BEGIN COMMIT; END $$",
		"SET LOCAL work_mem = '1GB'":                       "SET LOCAL work_mem = '1GB'",
		"REFRESH MATERIALIZED VIEW CONCURRENTLY v":         "REFRESH MATERIALIZED VIEW CONCURRENTLY v",
	} {
		s, err := parse(text, "$")
		if got := strings.Join(append([]string{s.text}, s.params...), " "); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ; ", "-- x", "COMMIT", "commit", "SELECT 1; ROLLBACK", "SELECT 1; SELECT 2", "/* x */ begin", "START TRANSACTION", "END", "SAVEPOINT a", "VACUUM FULL t",
		"CREATE INDEX CONCURRENTLY i ON t (a)", "CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)", "DROP INDEX CONCURRENTLY i", "REINDEX TABLE CONCURRENTLY t",
		"ALTER TABLE t DETACH PARTITION p CONCURRENTLY", "SET search_path = x", "set role x", "SET SESSION AUTHORIZATION x", "RESET ROLE", "LISTEN x", "PRAGMA a", "ATTACH 'x' AS y",
		"PREPARE TRANSACTION 'x'",
	} {
		if s, err := parse(text, "$"); err == nil {
			t.Errorf("%q is taken: %v", text, s)
		}
	}
}

// Whatever a text is, parsing ends, and what is no parameter stays.
func FuzzParse(f *testing.F) {
	f.Add("SELECT ':a', :b /* $x$ ; -- ")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(text, "$")
		if err == nil && (s.text == "" || len(s.params) == 0 && s.text != text) {
			t.Errorf("%q became %q", text, s.text)
		}
	})
}

// Args that are no JSON object matter only to a statement with parameters. Its error says what is wrong.
func TestArgsThatAreNoObject(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"null", "[1]", "7", "--full", `{"day": 1`, ""} {
		job := jobqueue.NewJobContext(jobqueue.Job{JID: "job-1", Args: args})
		values, err := runner{list: []statement{{params: []string{"nextrun_job_id"}}}}.args(job)
		if err != nil || values[0][0] != "job-1" {
			t.Errorf("%s: the id of the job is %v, %v", args, values, err)
		}
		_, err = runner{list: []statement{{params: []string{"day"}}}}.args(job)
		if err == nil || !strings.Contains(err.Error(), "no JSON object") {
			t.Errorf("%s: %v", args, err)
		}
	}
}
