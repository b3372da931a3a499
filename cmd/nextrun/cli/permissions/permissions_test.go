package permissions_test

import (
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/clitest"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/storetest"
	"github.com/nextrun/nextrun/internal/storetest/migrated"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	s := clitest.Shell{Env: map[string]string{}}
	for _, test := range []struct {
		want string
		args []string
	}{
		{"name at least one handler", []string{"tenant", "acme"}},
		{"missing argument NAME", []string{"tenant"}},
		{"name of a role of nextrun", []string{"tenant", "viewer", "--handler", "x"}},
		{`prefix "x;"`, []string{"roles", "--prefix", "x;"}},
		{"missing command", nil},
	} {
		s.Fails(t, ui.WrongUsage, append([]string{"permissions"}, test.args...), test.want)
	}
}

// In a schema of its own, an owner that may do nothing else makes the tables, and the
// scripts run as that owner.
func TestScriptsInASchemaOfItsOwnOnPostgres(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	prefix := "c" + d.One("SELECT md5(current_database())")[:12] + "_"
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL + "&options=-c%20role=" + prefix + "owner", "NEXTRUN_SCHEMA": "my_jobs"}}
	script := func(args ...string) string {
		return s.Must(t, append(append([]string{"permissions"}, args...), "--prefix", prefix)...)
	}
	t.Cleanup(func() { // the owner first, who has granted rights to the others
		for _, role := range []string{"owner", "acme", "viewer", "dashboard", "operator", "editor", "scheduler", "executor", "housekeeper", "relay"} {
			d.Exec("DO $$ BEGIN DROP OWNED BY " + prefix + role + " CASCADE; EXCEPTION WHEN undefined_object THEN NULL; END $$; DROP ROLE IF EXISTS " + prefix + role)
		}
	})
	d.Exec(script("owner"))
	s.Must(t, "migrate", "up")
	d.Exec(script("roles"))
	d.Exec(script("tenant", "acme", "--handler", "report"))
	d.Want(prefix+"owner", `SELECT string_agg(DISTINCT tableowner, ' ') FROM pg_tables WHERE schemaname = 'my_jobs'`)
	// Who makes roles has made them; the rest is up to the owner.
	d.Exec("SET ROLE " + prefix + "owner; " + script("roles") + script("tenant", "acme", "--handler", "backup", "--ids", "acme/") + "RESET ROLE")
	d.Exec("SET ROLE " + prefix + `acme; INSERT INTO "my_jobs".periodic_task (id, task, group_, timer) VALUES ('acme/1', 'backup', 'acme', 'daily'); RESET ROLE`)
	d.Want("1", `SELECT count(*) FROM "my_jobs".periodic_task WHERE id LIKE 'acme%'`)
}
