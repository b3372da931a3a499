package migrate_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// With --schema all of nextrun is in a schema of its own. Whoever writes there needs
// no search_path, and what is in other schemas is neither read nor changed.
func TestSchemaOfItsOwn(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	d.Exec(`CREATE TABLE job (id integer PRIMARY KEY, what text); INSERT INTO job VALUES (1, 'theirs');
		CREATE TABLE node (id text, type text, url text); INSERT INTO node VALUES ('joex1', 'joex', 'http://joex')`)
	objects := `SELECT string_agg(relname, ' ' ORDER BY relname) || (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace)
		FROM pg_class WHERE relnamespace = 'public'::regnamespace`
	before := d.One(objects)

	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL, "NEXTRUN_NAME": "test", "NEXTRUN_SCHEMA": "order"}}
	s.Says(t, ui.Failed, "task list", `there is no schema "order"`, "nextrun migrate up")
	s.Says(t, ui.Done, "migrate up", "applied 00001_schema.sql")
	s.Says(t, ui.Done, "migrate up", "nothing to do")
	s.Must(t, "migrate", "status")
	d.Want(before, objects)

	// A writer whose search_path is empty, as pg_dump has it, and one with "public".
	config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {echo: {command: [echo, hello]}}\n")
	b := s.Start(t, "serve", "--config", config)
	b.WaitFor("started  ", "schema=order")
	d.Exec(`SET search_path = ''; INSERT INTO "order".periodic_task (id, task, timer, overlap) VALUES ('a', 'echo', 'every 1s', 'queue')`)
	b.WaitFor("job ended", "state=success")
	d.Exec(`SET search_path = ''; UPDATE "order".periodic_task SET subject = 'edited'; DELETE FROM "order".periodic_task WHERE id = 'a'`)
	s.Must(t, "task", "add", "b", "--handler", "echo", "--timer", "daily")
	s.Must(t, "task", "run", "b")
	b.WaitFor("job ended", "task=b")
	b.Stop()
	b.WaitFor("stopped")
	d.Want("b", `SELECT string_agg(id, ' ' ORDER BY id) FROM "order".periodic_health`)
	d.Want("1 theirs", "SELECT string_agg(id || ' ' || what, ';') FROM public.job")

	mark := "?"
	if strings.Contains(d.URL, "?") {
		mark = "&"
	}
	other := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL + mark + "schema=second"}}
	other.Must(t, "migrate", "up")
	other.Says(t, ui.Done, "task list", "! echo")
	other.Says(t, ui.Done, "migrate down --yes", "removed schema second")
	d.Want("0", "SELECT count(*) FROM pg_namespace WHERE nspname = 'second'")

	d.Exec(`CREATE TABLE "order".theirs (id integer)`)
	s.Says(t, ui.Done, "migrate down --yes", "! removed schema")
	d.Want("theirs", `SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = '"order"'::regnamespace`)
}

func TestSchemaThatCannotBe(t *testing.T) {
	t.Parallel()
	file := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "sqlite:" + filepath.Join(t.TempDir(), "app.db")}}
	file.Says(t, ui.Failed, "migrate up --schema x", "SQLite has no schemas", "--schema")
	server := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": "postgres://localhost/x"}}
	for name, want := range map[string]string{`x"; DROP TABLE job; --`: "use lower-case letters", "Next-Run": "use lower-case letters", "pg_toast": "is PostgreSQL's own"} {
		server.Says(t, ui.Failed, "migrate up --schema '"+name+"'", want)
	}
}
