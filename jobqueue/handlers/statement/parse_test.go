package statement

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SELECT 1":   "SELECT 1",
		"SELECT 1;":  "SELECT 1",
		"a; b;\n; c": "a|b|c",
		"INSERT INTO t VALUES (:day::date, :n, :day)": "INSERT INTO t VALUES ($1::date, $2, $1) day n",
		"a :x; b :y :x": "a $1 x|b $1 $2 y x",
		"SELECT ':no;', \":no;\", E'\\':no;', 'it''s :no'": "SELECT ':no;', \":no;\", E'\\':no;', 'it''s :no'",
		"SELECT $$ :no; $$, $f$ $$ :no; $f$":               "SELECT $$ :no; $$, $f$ $$ :no; $f$",
		"SELECT 1 -- :no; x\n, 2":                          "SELECT 1 -- :no; x\n, 2",
		"SELECT /* :no; /* ; */ ; */ :x":                   "SELECT /* :no; /* ; */ ; */ $1 x",
		"SELECT f(a := 1), x[1 : 2], '12:30', t12::time":   "SELECT f(a := 1), x[1 : 2], '12:30', t12::time",
		"SELECT 'open :no;":                                "SELECT 'open :no;",
		"-- nothing\n; SELECT 2":                           "SELECT 2",
		"UPDATE t SET commit = 1, é = :é":                  "UPDATE t SET commit = 1, é = :é",
		"DO $$ BEGIN COMMIT; END $$":                       "DO $$ BEGIN COMMIT; END $$",
		"SET LOCAL work_mem = '1GB'; SELECT 1":             "SET LOCAL work_mem = '1GB'|SELECT 1",
		"REFRESH MATERIALIZED VIEW CONCURRENTLY v":         "REFRESH MATERIALIZED VIEW CONCURRENTLY v",
		"CREATE SCHEMA s; ALTER DATABASE d SET x = 1":      "CREATE SCHEMA s|ALTER DATABASE d SET x = 1",
	} {
		list, err := Parse(text, "$")
		var got []string
		for _, s := range list {
			got = append(got, strings.Join(append([]string{s.Text}, s.Params...), " "))
		}
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: got %q, %v; want %q", text, strings.Join(got, "|"), err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ; ", "-- x", "COMMIT", "commit", "SELECT 1; ROLLBACK", "/* x */ begin", "START TRANSACTION", "END", "SAVEPOINT a", "VACUUM FULL t",
		"CREATE INDEX CONCURRENTLY i ON t (a)", "CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)", "DROP INDEX CONCURRENTLY i", "REINDEX TABLE CONCURRENTLY t",
		"REINDEX DATABASE d", "REINDEX SCHEMA s", "CREATE DATABASE d", "DROP TABLESPACE x", "ALTER SYSTEM SET a = 1",
		"ALTER TABLE t DETACH PARTITION p CONCURRENTLY", "SET search_path = x", "set role x", "SET SESSION AUTHORIZATION x", "RESET ROLE", "LISTEN x", "PRAGMA a", "ATTACH 'x' AS y",
		"PREPARE TRANSACTION 'x'",
	} {
		if list, err := Parse(text, "$"); err == nil {
			t.Errorf("%q is taken: %v", text, list)
		}
	}
}

func TestCommits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"CALL p()": true, "DO $$ BEGIN COMMIT; END $$": true, "DO $$ BEGIN PERFORM f(); END $$": false, "COPY t FROM STDIN": true, "SELECT 'commit'": false,
	} {
		list, err := Parse(text, "$")
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(list, func(s Statement) bool { return s.Commits() != "" }); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// Whatever a text is, parsing ends, and what is no parameter stays.
func FuzzParse(f *testing.F) {
	f.Add("SELECT ':a', :b /* $x$ ; -- ")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text, "$")
		if err != nil {
			return
		}
		length := 0
		for _, s := range list {
			length += len(s.Text)
			if len(s.Params) == 0 && !strings.Contains(text, s.Text) {
				t.Errorf("%q became %q", text, s.Text)
			}
		}
		if length == 0 {
			t.Errorf("%q gives nothing", text)
		}
	})
}
