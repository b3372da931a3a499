package situations_test

import (
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// login makes a login that may use all tables.
func (w *world) login() (name, address string) {
	w.Helper()
	name = strings.ToLower("nextrun_test_" + rand.Text())
	w.sql("CREATE ROLE "+name+" LOGIN PASSWORD 'secret'",
		"GRANT ALL ON ALL TABLES IN SCHEMA public TO "+name, "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO "+name)
	w.Cleanup(func() { w.sql("DROP OWNED BY " + name + "; DROP ROLE " + name) })
	u, err := url.Parse(w.d.URL)
	if err != nil {
		w.Fatal(err)
	}
	u.User = url.UserPassword(name, "secret")
	return name, u.String()
}

// What this login may not read is named, and the rest is said.
func TestLoginWithoutRights(t *testing.T) {
	t.Parallel()
	for table, what := range map[string]string{
		"joblog": "the log of its last failure",
		"worker": "what keeps it from being taken", "job": "its jobs or events",
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			w := &world{T: t, d: migrated.New(t, storetest.Postgres)}
			w.sql("DELETE FROM periodic_task", "INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'backup', 'yearly')")
			overdue(w)
			w.ended("failed", "no such host")
			name, address := w.login()
			w.sql("REVOKE ALL ON " + table + " FROM " + name)
			w.sh = clitest.Shell{Env: map[string]string{"NEXTRUN_DB": address}}
			said := words(w.sh.Must(t, "why", "t"))
			wantText(t, said, what+" (")
			wantText(t, said, "permission denied for table "+table)
			if strings.Contains(said, "last run never") {
				t.Errorf("it ran:\n%s", said)
			}
			if table != "job" {
				wantText(t, said, "no such host")
			}
		})
	}
}

// While tasks or their jobs cannot be read at all, the error names who has locked them.
func TestLockedTables(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"periodic_task", "job"} {
		w := &world{T: t, d: migrated.New(t, storetest.Postgres)}
		w.sql("INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'backup', 'yearly')")
		w.d.Hold("SET LOCAL application_name = 'by-hand'; LOCK TABLE " + table)
		w.sh = clitest.Shell{Env: map[string]string{"NEXTRUN_DB": w.d.URL}}
		w.sh.Says(t, ui.Failed, "why t", "the table "+table+" is locked by pid ", "(by-hand, user ", "idle in transaction for ")
	}
}
