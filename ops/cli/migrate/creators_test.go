package migrate_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Where strangers may create in nextrun's schema, migrate up and check say who, and the
// statement that they print ends it.
func TestStrangersWhoMayCreateAreNamed(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL}}
	quiet := func(words ...string) {
		t.Helper()
		if out := s.Must(t, words...); strings.Contains(out, "may create objects") {
			t.Errorf("%v: %s", words, out)
		}
	}
	d.Exec("REVOKE CREATE ON SCHEMA public FROM PUBLIC") // PostgreSQL 13 and 14 grant it
	quiet("migrate", "up")
	quiet("check")
	d.Exec("GRANT CREATE ON SCHEMA public TO PUBLIC")
	const remedy = "REVOKE CREATE ON SCHEMA public FROM PUBLIC"
	for _, command := range []string{"migrate up", "check"} {
		out := s.Must(t, strings.Fields(command)...)
		if !strings.Contains(out, "PUBLIC may create objects in the schema public, ") || !strings.Contains(out, remedy+"\n") {
			t.Errorf("%s:\n%s", command, out)
		}
	}
	d.Exec(remedy)
	quiet("migrate", "up")
	quiet("check")
}
