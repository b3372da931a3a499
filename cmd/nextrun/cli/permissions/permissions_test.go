package permissions_test

import (
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
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

// A scheduler needs nothing but its role to feed the queues of the configuration, also on a
// database without the tables of jobs.
func TestRolesFeedTheQueuesOfTheConfigurationOnPostgres(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	prefix := "q" + d.One("SELECT md5(current_database())")[:12] + "_"
	config := clitest.WriteFile(t, "nextrun.yaml", `
queues:
  river: {type: river, schema: public, queue: mail}
  own: {type: sql, enqueue: "SELECT jid FROM nextrun_batch", pending: "SELECT jid FROM nextrun_open"}
`)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL, "NEXTRUN_CONFIG": config}}
	t.Cleanup(func() {
		for _, role := range []string{"viewer", "dashboard", "operator", "editor", "scheduler", "executor", "housekeeper", "relay"} {
			d.Exec("DO $$ BEGIN DROP OWNED BY " + prefix + role + " CASCADE; EXCEPTION WHEN undefined_object THEN NULL; END $$; DROP ROLE IF EXISTS " + prefix + role)
		}
	})
	s.Must(t, "migrate", "up", "--without", "job")
	s.MakeRiver(t)
	script := s.Must(t, "permissions", "roles", "--prefix", prefix)
	clitest.WantLines(t, script, "-- nextrun does not know the tables of its statements: give these roles the rights that the statements need.")
	d.Exec(script)
	s.Must(t, "task", "add", "report", "--handler", "report", "--timer", "daily", "--sink", "river")
	for role, may := range map[string]bool{"scheduler": true, "dashboard": true, "operator": true, "viewer": false, "executor": false} {
		as := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL + "&options=-c%20role=" + prefix + role, "NEXTRUN_CONFIG": config}}
		if may {
			as.Must(t, "queue", "check", "river")
		} else {
			as.Fails(t, ui.Changes, []string{"queue", "check", "river"}, "errors: 1")
		}
	}
}
