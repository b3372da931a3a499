package storetest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// withoutVariableName is set by scripts/with-needs, when somebody tests on a machine that
// lacks something: a list of names of scripts/lib/needs.sh.
const withoutVariableName = "NEXTRUN_TEST_WITHOUT"

// Need skips the test if make test has found that this machine lacks what it needs: one
// of the names of scripts/lib/needs.sh, such as [Postgres]. make test then says so in its
// last lines. In CI nothing is skipped.
func Need(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "" && slices.Contains(strings.Fields(os.Getenv(withoutVariableName)), what) {
		t.Skip("this machine has no " + what + "; make doctor says how to install it") //nolint:forbidigo // whoever asked for it is told
	}
}

// Client needs the programs that people use with a database of a kind.
func Client(t testing.TB, kind string) {
	t.Helper()
	Need(t, map[string]string{Postgres: "psql", SQLite: "sqlite3"}[kind])
}
