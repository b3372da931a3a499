package migrate_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func TestMigrate(t *testing.T) {
	t.Parallel()
	clitest.OnBoth(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, "CREATE TABLE job (id integer PRIMARY KEY)")
		s.Says(t, ui.Failed, "migrate up", "job.jid", "! nothing to do")
		s.Exec(t, "DROP TABLE job")
		s.Says(t, ui.Done, "migrate up", "applied 00001_schema.sql")
		s.Says(t, ui.Done, "migrate up", "nothing to do")
		s.Says(t, ui.Done, "migrate status", "VERSION MIGRATION APPLIED", "1 00001_schema.sql yes")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('a', 'echo', 'daily')`)
		s.Says(t, ui.WrongUsage, "migrate down", "all tasks, jobs", "--yes")
		s.Says(t, ui.Done, "task list", "echo")
		s.Says(t, ui.Done, "migrate down --yes", "removed 00001_schema.sql", "with all tasks, jobs")
		s.Says(t, ui.Done, "migrate down", "nothing to do")
		s.Says(t, ui.Changes, "migrate status --json", `"applied": false`, "run: nextrun migrate up")
	})
}

// All commands that need the tables refuse a database that lacks them, or was
// made by another version, and name the way out.
func TestSchemaIsRequired(t *testing.T) {
	t.Parallel()
	commands := []string{"task list", "scheduler", "scheduler --once", "task run a"}
	clitest.OnBoth(t, func(t *testing.T, s clitest.Shell) {
		for _, command := range commands {
			s.Says(t, ui.Failed, command, "nextrun migrate up")
		}
		if storetest.At(t, s.Env["NEXTRUN_DB"]).Kind == storetest.Postgres { // perhaps another schema has them
			s.Says(t, ui.Failed, "task list", "schema public: the database has no tables of nextrun")
			s.Says(t, ui.Failed, "task list --schema night", `there is no schema "night"; run: nextrun migrate up --schema night`)
		}
		s.Says(t, ui.Failed, "check", "errors: 1")
		s.Says(t, ui.Failed, "check --guarantees", "nextrun migrate up", "! checks")
		s.Must(t, "scheduler", "--once", "--migrate")
		s.Exec(t, `INSERT INTO nextrun_found (name) VALUES ('oldest 2 00002_more.sql')`)
		s.Says(t, ui.Failed, "check --guarantees", "newer than this program", "! checks")
		s.Exec(t, `DELETE FROM nextrun_found WHERE name LIKE 'oldest 2%'`)
		s.Exec(t, `UPDATE nextrun_found SET name = 'made by 0123456789abcdef' WHERE name LIKE 'made by %'`)
		for _, command := range append(commands, "migrate up", "scheduler --once --migrate") {
			s.Says(t, ui.Failed, command, "made by another version of nextrun before 0.1.0", "`task export` of the old program and `task apply`")
		}
	})
}

// A scheduler and an executor whose tables are taken away say what is wrong, and
// go on when they are back.
func TestServeOutlivesMigrateDown(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {echo: {command: [echo]}}\nexecutor: {poll_interval: 1s}\nscheduler: {poll_interval: 1s}\n")
		b := s.Start(t, "serve", "--config", config)
		b.WaitFor("started  ")
		storetest.Eventually(t, "migrate down names what runs", func() bool {
			r := s.Run(t.Context(), "migrate", "down")
			return r.Exit == ui.WrongUsage && strings.Contains(r.Stderr, "stop first what runs on it: ") &&
				strings.Contains(r.Stderr, " executor test@") && strings.Contains(r.Stderr, " scheduler test@")
		})
		s.Must(t, "migrate", "down", "--yes")
		b.WaitFor("scheduler: database work failed, retrying", "missing", "nextrun migrate up")
		b.WaitFor("executor: database work failed, retrying", "missing", "nextrun migrate up")
		s.Must(t, "migrate", "up")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('a', 'echo', 'daily', '2026-01-01 00:00:00')`)
		b.WaitFor("job ended", "task=a", "state=success") // which can be said before "job submitted"
		b.Stop()
		b.WaitFor("stopped")
	})
}

// What somebody has dropped is named by status and check, survived by services
// where that is possible, and made again by the statement that status prints.
func TestIncompleteSchema(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, "DROP INDEX nextrun_job_pending")
		missing := "index nextrun_job_pending on job"
		r := s.Says(t, ui.Changes, "migrate status", "missing: 1")
		s.Says(t, ui.Changes, "migrate status --json", missing, "nextrun migrate status")
		s.Says(t, ui.Changes, "check", "errors: 1")
		s.Says(t, ui.Done, "migrate up", "nothing to do", "warning: missing in the database's schema: "+missing+"; nextrun migrate status prints")
		s.Must(t, "task", "list")
		s.Must(t, "scheduler", "--once")
		_, statement, found := strings.Cut(r.Stdout, "-- "+missing+" is missing:\n")
		if !found {
			t.Fatalf("migrate status says\n%s", r.Stdout)
		}
		s.Exec(t, statement)
		s.Must(t, "check")

		s.Exec(t, "DROP TABLE periodic_calendar")
		s.Says(t, ui.Changes, "check", "errors: 1, ") // not one for each of its columns
		s.Says(t, ui.Failed, "scheduler --once", "table periodic_calendar", "nextrun migrate status")
	})
}

// Where strangers may create in nextrun's schema, migrate up and check say who, and the
// statement that they print ends it.
func TestStrangersWhoMayCreateAreNamedOnPostgres(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL}}
	const remedy = "REVOKE CREATE ON SCHEMA public FROM PUBLIC"
	d.Exec(remedy) // PostgreSQL 13 and 14 grant it
	s.Must(t, "migrate", "up")
	for _, command := range []string{"migrate up", "check"} {
		s.Says(t, ui.Done, command, "! may create objects")
		d.Exec("GRANT CREATE ON SCHEMA public TO PUBLIC")
		s.Says(t, ui.Done, command, "PUBLIC may create objects in the schema public, ", remedy)
		d.Exec(remedy)
		s.Says(t, ui.Done, command, "! may create objects")
	}
	owner, stranger := d.One("SELECT current_user"), "s"+d.One("SELECT md5(current_database())")[:12]
	d.DropRoles(stranger)
	d.Exec("CREATE ROLE " + stranger + "; ALTER TABLE job OWNER TO " + stranger) // as one who made it before migrate up
	for _, command := range []string{"migrate up", "check"} {
		s.Says(t, ui.Done, command, stranger+" owns job, and so may add tasks and jobs", "run: ALTER TABLE job OWNER TO "+owner)
	}
	d.Exec("ALTER TABLE job OWNER TO " + owner)
}

// A login that may not create in the schema learns who can migrate, and which right it lacks. Its password may be a word like any other:
// the message stays readable.
func TestLoginThatMayNotMigrateOnPostgres(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	login := "m" + d.One("SELECT md5(current_database())")[:12]
	d.DropRoles(login)
	d.Exec("REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE " + login + " LOGIN PASSWORD 'schema'")
	address, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(login, "schema")
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": address.String()}}
	s.Says(t, ui.Failed, "migrate up", "permission denied for schema public", "have the owner of the schema run nextrun migrate up, or grant this role CREATE on it")
	s.Says(t, ui.Failed, "check --schema nowhere", `there is no schema "nowhere"`, "! schema@")
}
