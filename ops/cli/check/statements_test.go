package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// The database is asked about the SQL of handlers.
func TestCheckTriesStatements(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, "CREATE TABLE report (id integer, day text)")
		config := clitest.WriteFile(t, "nextrun.yaml", `handlers:
  misspelt: {sql: "DELETE FROM reprot WHERE day < :day"}
  second: {sql: ["DELETE FROM report WHERE id = :n", "INSERT INTO report (id, dya) VALUES (1, :day)"]}
  syntax: {sql: "DELETE FORM report"}
  good: {sql: ["DELETE FROM report WHERE id = :n AND day = :nextrun_due", "INSERT INTO report SELECT id, day FROM report", "SELECT 1"]}
  maker: {sql: ["CREATE TABLE monthly (id integer)", "INSERT INTO monthly VALUES (:n)"]}
`)
		r := s.Fails(t, ui.Changes, []string{"check", "--config", config}, "errors: 3")
		clitest.WantLines(t, r.Stdout, "error handler misspelt", "error handler second statement 2: ", "error handler syntax")
		for _, want := range []string{"reprot", "dya", "FORM", "correct handlers.second in " + config} {
			if !strings.Contains(r.Stdout, want) {
				t.Errorf("the report does not say %q:\n%s", want, r.Stdout)
			}
		}
		if strings.Contains(r.Stdout, "handler good") || strings.Contains(r.Stdout, "handler maker") {
			t.Errorf("good statements are reported:\n%s", r.Stdout)
		}
	})
}
