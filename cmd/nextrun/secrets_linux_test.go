package main_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli"
)

// planted is what all secrets of the tests begin with: that of this test, and the
// password of the server that scripts/with-postgres makes. The gate looks for it in
// what the tests write.
const planted = "planted-"

const secretsConfig = `
handlers:
  show:
    command: [sh, -c, 'env; tr "\0" " " < /proc/self/environ; tr "\0" " " < /proc/$PPID/cmdline; cat /proc/$PPID/comm /proc/$PPID/status']
    on_success: {url: 'http://127.0.0.1:%[1]d/told', secret: "${HOOK_SECRET}"}
  call:
    http: {url: 'http://127.0.0.1:%[1]d/call', headers: {Authorization: "${CALL_TOKEN}"}}
executor:
  retry_limit: 0
`

// secretive is a database whose role has a password that nobody must write down, and
// a directory in which programs work.
type secretive struct {
	*storetest.Database
	binary, dir, role, password string
	written                     bytes.Buffer
}

func newSecretive(t *testing.T) *secretive {
	d := storetest.New(t, storetest.Postgres)
	s := &secretive{Database: d, binary: build(t), dir: t.TempDir(), password: planted + rand.Text()}
	s.role = "secretive_" + d.One("SELECT md5(current_database())")[:12]
	d.Exec("CREATE ROLE " + s.role + " LOGIN PASSWORD '" + s.password + "'; GRANT CREATE, USAGE ON SCHEMA public TO " + s.role)
	t.Cleanup(func() { d.Exec("DROP OWNED BY " + s.role + " CASCADE; DROP ROLE " + s.role) })
	return s
}

// address is the URL of the database for the role, with a password or without.
func (s *secretive) address(password string) string {
	s.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		s.Fatal(err)
	}
	u.User = url.User(s.role)
	if password != "" {
		u.User = url.UserPassword(s.role, password)
	}
	return u.String()
}

// ways are how a process gets the password.
func (s *secretive) ways() map[string][]string {
	file := filepath.Join(s.TempDir(), "database")
	write(s.TB.(*testing.T), file, s.address(s.password))
	return map[string][]string{
		"URL":        {"NEXTRUN_DB=" + s.address(s.password)},
		"parameter":  {"NEXTRUN_DB=" + s.address("") + "&password=" + s.password},
		"file":       {"NEXTRUN_DB_FILE=" + file},
		"PGPASSWORD": {"NEXTRUN_DB=" + s.address(""), "PGPASSWORD=" + s.password},
	}
}

// run runs the program to its end, whatever that is, and keeps what it writes.
func (s *secretive) run(environment []string, args ...string) {
	s.Helper()
	command := s.command(environment, args...)
	command.Stdout, command.Stderr = &s.written, &s.written
	_ = command.Run()
}

func (s *secretive) command(environment []string, args ...string) *exec.Cmd {
	command := exec.CommandContext(s.Context(), s.binary, args...)
	command.Dir = s.dir
	command.Env = append(slices.Clip(environment), "PATH="+os.Getenv("PATH"), "HOME="+s.dir, "NEXTRUN_CONFIG=nextrun.yaml",
		"HOOK_SECRET=raw:"+planted+rand.Text(), "CALL_TOKEN=Bearer "+planted+rand.Text())
	return command
}

// clean fails if a secret is in what was written, or in a file.
func (s *secretive) clean(where string, text string) {
	s.Helper()
	if at := strings.Index(text, planted); at >= 0 {
		s.Errorf("%s has a secret: ...%s", where, text[max(0, at-200):min(len(text), at+60)])
	}
}

// No secret is in what processes write and show, in the database, or in what commands
// of handlers get, however the process got it.
func TestSecretsAreWrittenNowhereOnPostgres(t *testing.T) {
	t.Parallel()
	receiver := echoes(t)
	for _, way := range []string{"URL", "parameter", "file", "PGPASSWORD"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := newSecretive(t)
			write(t, filepath.Join(s.dir, "nextrun.yaml"), fmt.Sprintf(secretsConfig, receiver))
			environment := s.ways()[way]
			s.run(environment, "migrate", "up")
			s.serve(t, environment)
			if way == "URL" { // the others differ in how a process connects only
				s.inspect(environment)
			}
			s.clean("an output", s.written.String())
		})
	}
}

// inspect runs the commands that show something.
func (s *secretive) inspect(environment []string) {
	for _, args := range [][]string{{"check"}, {"check", "--guarantees"}, {"why", "show"}, {"task", "list", "--json"}, {"job", "list", "--json"},
		{"job", "log", "--last", "show"}, {"event", "list"}, {"lock", "show"}, {"migrate", "status"}, {"task", "export"}} {
		s.run(environment, append(args, "--log-level", "debug")...)
	}
}

// Errors name what is wrong with an address without its password.
func TestSecretsAreNotInErrorsOnPostgres(t *testing.T) {
	t.Parallel()
	s := newSecretive(t)
	wrong := planted + "wrong"
	for _, address := range []string{
		s.address(wrong), s.address("") + "&password=" + wrong, s.address(wrong) + "&sslmode=no-such-mode", s.address(wrong) + "&no_such_setting=1",
		"postgres://u:" + wrong + "@127.0.0.1:1/x", "postgres://u:" + wrong + "@127.0.0.1:port/x", "postgres://u:" + wrong + "%zz@h/x",
		"postgres://u:" + wrong + "@no-such-host.invalid/x", "postgresq://u:" + wrong + "@h/x", "host=h password=" + wrong, "u:" + wrong + "@h", "postgres://u:a/" + wrong + "@h",
		s.address(wrong) + "&connect_timeout=bogus", s.address(wrong) + "&sslrootcert=/no/such/file&sslmode=verify-full", s.address("") + "&pasword=" + wrong,
		"postgres://u:" + wrong + "%2F" + wrong + "@127.0.0.1:1/x",
	} {
		for _, args := range [][]string{{"check", "--log-format", "json"}, {"task", "list", "--log-level", "debug"}, {"--db", address, "migrate", "status"}} {
			_ = cli.Run(t.Context(), args, io.MultiReader(), &s.written, &s.written, func(name string) string {
				return map[string]string{"NEXTRUN_DB": address}[name]
			})
		}
		if s.written.Len() == 0 {
			t.Error("nothing was written")
		}
		s.clean("the answer to "+strings.ReplaceAll(address, planted, "..."), s.written.String())
		s.written.Reset()
	}
}

// echoes is a server that answers with what it was asked, and returns its port.
func echoes(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "you are %s", r.Header.Get("Authorization"))
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// serve runs the whole program until a job of each handler has ended, looks at what it
// shows, and ends it with a trace of all goroutines.
func (s *secretive) serve(t *testing.T, environment []string) {
	t.Helper()
	s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('show', 'show', 'yearly', '2026-01-01'), ('call', 'call', 'yearly', '2026-01-01'),
		('unknown', 'no-such-handler', 'yearly', '2026-01-01')`)
	p := program.Start(t, s.command(environment, "serve", "--log-level", "debug", "--metrics", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--dashboard-actions"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(strings.ReplaceAll(p.Said(), planted, "..."))
		}
	})
	pid := strconv.Itoa(p.Command.Process.Pid)
	s.until(t, "SELECT count(*) FROM job WHERE state = 'success' AND task <> 'nextrun.hook'", "2")
	s.until(t, "SELECT count(*) FROM job WHERE state = 'success' AND task = 'nextrun.hook'", "1")
	s.clean("the command line", readFile(t, "/proc/"+pid+"/cmdline"))
	s.clean("the process's name", readFile(t, "/proc/"+pid+"/comm"))
	s.clean("a session of the database", s.One("SELECT string_agg(query || application_name, ' ') FROM pg_stat_activity WHERE datname = current_database()"))
	addresses := regexp.MustCompile(`address="?(http[^\s"]+)`).FindAllStringSubmatch(p.Said(), -1)
	if len(addresses) != 2 {
		t.Errorf("it listens at %q; want metrics and dashboard", addresses)
	}
	for _, address := range addresses {
		for _, page := range []string{"", "tasks", "task?id=show", "task?id=call", "jobs", "job?last=show", "events", "scheduler", "timeline", "metrics", "healthz",
			"tasks?format=json", "jobs?format=json", "scheduler?format=json"} {
			s.clean(page, get(t, address[1]+page))
		}
	}
	s.clean("the database", s.One(`SELECT string_agg(query_to_xml('SELECT * FROM ' || table_name, true, false, '')::text, ' ')
		FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`))
	p.Signal(syscall.SIGQUIT)
	p.End()
	if !strings.Contains(p.Said(), "goroutine ") {
		t.Errorf("no trace of goroutines in\n%s", p.Said())
	}
	s.clean("the log", p.Said())
}

func (s *secretive) until(t *testing.T, query, want string) {
	t.Helper()
	storetest.Eventually(t, query+" is "+want, func() bool { return s.One(query) == want })
}

func get(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address) //nolint:noctx // a server of the test
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
