package main_test

import (
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// logins are a database with a schema of nextrun's own, and a login for each role of dist/postgres.
type logins struct {
	*storetest.Database
	prefix string
}

func newLogins(t *testing.T) *logins {
	t.Helper()
	d := storetest.New(t, storetest.Postgres)
	l := &logins{d, "p" + d.One("SELECT md5(current_database())")[:12] + "_"}
	names := append(storetest.Roles(), "acme")
	for _, name := range append(names, "owner") {
		d.DropRoles(l.prefix+name+"_login", l.prefix+name)
	}
	d.Script("", "owner.sql", "schema=jobs", "prefix="+l.prefix)
	l.login("owner")
	nextrun(t, l.as("owner"), ui.Done, "migrate", "up")
	d.Script("", "roles.sql", "schema=jobs", "prefix="+l.prefix)
	d.Script("", "tenant.sql", "schema=jobs", "prefix="+l.prefix, "name=acme", "handlers=hello")
	for _, name := range names {
		l.login(name)
	}
	return l
}

// login makes a login that works as a role.
func (l *logins) login(role string) {
	l.Helper()
	name := l.prefix + role
	l.Exec("CREATE ROLE " + name + "_login LOGIN PASSWORD 'secret'; GRANT " + name + " TO " + name + "_login; ALTER ROLE " + name + "_login SET role = " + name)
}

// as is the URL of a role's login.
func (l *logins) as(role string) string {
	l.Helper()
	u, err := url.Parse(l.URL)
	if err != nil {
		l.Fatal(err)
	}
	query := u.Query()
	query.Set("schema", "jobs")
	u.User, u.RawQuery = url.UserPassword(l.prefix+role+"_login", "secret"), query.Encode()
	return u.String()
}

// The owner migrates, and each program does its whole work with the role that is for it: on PostgreSQL 15 and
// later nobody else may create anything in the schema.
func TestProgramsWithTheRightsOfTheirRolesOnPostgres(t *testing.T) {
	t.Parallel()
	l := newLogins(t)
	config := filepath.Join(t.TempDir(), "nextrun.yaml")
	write(t, config, "handlers: {hello: {command: [echo, hi]}}\nrelay: {topics: {orders: {webhook: {url: 'http://"+freeAddress(t)+"/'}}}}\n")
	for _, program := range []string{"scheduler", "executor", "relay"} {
		startProcess(t, l.as(program), program, "--config", config).WaitFor(" started ")
	}
	pages := freeAddress(t)
	startProcess(t, l.as("reader"), "dashboard", "--dashboard", pages).WaitFor(" started ")

	tenant, operator := l.as("acme"), l.as("operator")
	nextrun(t, tenant, ui.Done, "task", "add", "acme-hello", "--handler", "hello", "--group", "acme", "--timer", "every 1s")
	nextrun(t, operator, ui.Done, "task", "add", "created", "--handler", "created", "--group", "orders", "--sink", "event", "--timer", "every 1s")
	atLeast(t, l.Database, "SELECT count(*) FROM jobs.job WHERE state = 'success' AND tracker = 'acme-hello'", 2)
	atLeast(t, l.Database, "SELECT count(*) FROM jobs.outbox_message WHERE attempts > 0", 1)

	of := []string{"task set acme-hello --timer hourly", "task pause acme-hello", "task resume acme-hello", "task skip acme-hello", "job list", "job log --last acme-hello"}
	if l.One("SELECT current_setting('server_version_num')") >= "150000" { // before, views would show a tenant the rows of others
		of = append(of, "task list", "task show acme-hello", "why acme-hello", "tick list")
	}
	for _, command := range of {
		nextrun(t, tenant, ui.Done, strings.Fields(command)...)
	}
	for _, command := range []string{"task run created", "task run acme-hello", "task rm created", "job submit hello", "event list", "job limit group acme 2",
		"check", "check --guarantees", "job prune --older-than 1h", "lock show"} {
		nextrun(t, operator, ui.Done, strings.Fields(command)...)
	}
	nextrun(t, l.as("reader"), ui.Done, "why", "acme-hello")
	for _, page := range []string{"", "tasks", "task?id=acme-hello", "runs", "run?id=acme-hello", "system", "timeline"} {
		response, err := http.Get("http://" + pages + "/" + page) //nolint:noctx // of this process
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("the page %q: %s", page, response.Status)
		}
	}
}

// A program whose login has another role says so, in the database's words and with the remedy.
func TestProgramsNameTheRightThatIsMissingOnPostgres(t *testing.T) {
	t.Parallel()
	l := newLogins(t)
	config := filepath.Join(t.TempDir(), "nextrun.yaml")
	write(t, config, "handlers: {hello: {command: [echo, hi]}}\nrelay: {topics: {orders: {webhook: {url: 'http://127.0.0.1:1/'}}}}\n")
	const remedy = "this login needs a role of dist/postgres/roles.sql, see docs/permissions.md: pq: permission denied for table "
	for program, role := range map[string]string{"scheduler": "reader", "executor": "scheduler", "relay": "executor"} {
		startProcess(t, l.as(role), program, "--config", config).WaitFor(remedy)
	}
	for role, command := range map[string]string{"reader": "task add t --handler hello --timer daily", "acme": "task rm acme-t", "relay": "check", "executor": "task list"} {
		said := failing(t, l.as(role), strings.Fields(command)...)
		if !strings.Contains(said, remedy) {
			t.Errorf("%s as %s: %s", command, role, said)
		}
	}
	if said := failing(t, l.as("acme"), "task", "add", "other", "--handler", "hello", "--group", "acme", "--timer", "daily"); !strings.Contains(said, "violates row-level security") {
		t.Errorf("a task of another tenant: %s", said)
	}
}

// failing runs a command that fails, and returns what it says.
func failing(t *testing.T, address string, args ...string) string {
	t.Helper()
	var said strings.Builder
	env := func(name string) string { return map[string]string{"NEXTRUN_DB": address}[name] }
	if exit := cli.Run(t.Context(), args, io.MultiReader(), &said, &said, env); exit != ui.Failed {
		t.Errorf("nextrun %v: exit code %d", args, exit)
	}
	return said.String()
}
