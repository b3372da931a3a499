package main_test

import (
	"context"
	"database/sql"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// A fenced block of a page has a comment before it, which says what the
// test does with it:
//
//	run                        runs it: sh with nextrun in the PATH, sql on the database
//	run: postgres              runs it on that database only
//	run: returns nothing       a query; it returns no row
//	run: in the background     until the last block
//	run: eventually shows X    again and again until the last command's output has X
//	file: NAME                 is that file in the working directory
//	timers                     each line is a timer and a comment
//	example: PATH              is a part of that file, but for indentation
//	configuration              a configuration file that can be read
//	not run: REASON            nothing; its commands and their flags are there, see pages_test.go
var fenced = regexp.MustCompile("(?:<!-- ([^\n]*) -->\n\n?)?```([a-z]+)\n((?s).*?)```\n")

// block is a fenced block of the README.
type block struct{ do, about, language, text string }

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	blocks := blocksOf(t, "../../README.md")
	if len(blocks) < 10 {
		t.Fatalf("found %d blocks only", len(blocks))
	}
	return blocks
}

func blocksOf(t *testing.T, page string) (blocks []block) {
	t.Helper()
	for _, match := range fenced.FindAllStringSubmatch(readFile(t, page), -1) {
		do, about, _ := strings.Cut(match[1], ": ")
		blocks = append(blocks, block{do, about, match[2], match[3]})
	}
	return blocks
}

func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	binary := build(t)
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		reader := newReader(t, d, filepath.Dir(binary))
		for _, b := range append(readmeBlocks(t), blocksOf(t, "../../docs/tasks.md")...) { // which continues it
			reader.follow(b)
		}
	})
}

// reader is somebody who does what the README says.
type reader struct {
	*testing.T
	kind, dir string
	env       []string
	db        *sql.DB
}

func newReader(t *testing.T, d *storetest.Database, path string) *reader {
	env := append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"), "NEXTRUN_DB="+d.URL)
	return &reader{t, d.Kind, t.TempDir(), env, d.SQL.DB}
}

func (r *reader) follow(b block) {
	r.Helper()
	about, empty := strings.CutSuffix(b.about, "returns nothing")
	only := strings.TrimSpace(about)
	switch what := b.do + " " + b.language; {
	case b.do == "":
		r.Errorf("no comment says what to do with this block:\n%s", b.text)
	case b.do == "not run", b.do == "timers", b.do == "example", b.do == "configuration", b.do == "mapping", b.language == "text": // see the other tests
	case b.do == "file":
		write(r.T, filepath.Join(r.dir, b.about), b.text)
	case (only == "postgres" || only == "sqlite") && only != r.kind:
	case what == "run sql" && empty:
		r.returnsNothing(b.text)
	case what == "run sql":
		if _, err := r.db.ExecContext(r.Context(), b.text); err != nil {
			r.Errorf("%v in\n%s", err, b.text)
		}
	case what == "run sh" && b.about == "in the background":
		r.background(b.text)
	case what == "run sh":
		text, eventually := strings.CutPrefix(b.about, "eventually shows ")
		if !eventually {
			text = ""
		}
		r.shell(b.text, text)
	default:
		r.Errorf("unknown comment %q before\n%s", b.do, b.text)
	}
}

func (r *reader) returnsNothing(query string) {
	r.Helper()
	rows, err := r.db.QueryContext(r.Context(), query)
	if err != nil {
		r.Errorf("%v in\n%s", err, query)
		return
	}
	defer rows.Close()
	if rows.Next() || rows.Err() != nil {
		r.Errorf("this returns something (%v):\n%s", rows.Err(), query)
	}
}

func (r *reader) bash(ctx context.Context, script string) *exec.Cmd {
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	command.Dir, command.Env = r.dir, r.env
	return command
}

// shell runs a script, and its last line again until it shows the text.
func (r *reader) shell(script, text string) {
	r.Helper()
	late := time.Now().Add(storetest.Patience)
	for {
		out, err := r.bash(r.Context(), script).CombinedOutput()
		if err != nil {
			r.Fatalf("%v in\n%s%s", err, script, out)
		}
		if strings.Contains(string(out), text) {
			return
		}
		if time.Now().After(late) {
			r.Fatalf("no %q after\n%s%s", text, script, out)
		}
		lines := strings.Split(strings.TrimSpace(script), "\n")
		script = lines[len(lines)-1]
	}
}

// background runs a script until the test ends; it must end cleanly then.
func (r *reader) background(script string) {
	r.Helper()
	p := program.Start(r, r.bash(context.Background(), "exec "+script))
	r.Cleanup(func() {
		p.Signal(syscall.SIGTERM)
		if exit := p.End(); exit != 0 || !strings.Contains(p.Said(), "stopped") {
			r.Errorf("%s: exit code %d\n%s", script, exit, p.Said())
		}
	})
}

// The tests that the README names exist.
func TestReadmeTests(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	for _, pattern := range []string{"../../*/*_test.go", "../../*/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			sources.WriteString(readFile(t, file))
		}
	}
	named := regexp.MustCompile("`(Test[A-Z]\\w+)`").FindAllStringSubmatch(readFile(t, "../../README.md"), -1)
	for _, name := range named {
		if !strings.Contains(sources.String(), "func "+name[1]+"(") {
			t.Errorf("there is no test %s", name[1])
		}
	}
	if len(named) < 10 {
		t.Errorf("found %d names only", len(named))
	}
}

// freeAddress is a loopback address at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// A reader of docs/monitoring.md sees metrics and pages, and no stale task.
func TestMonitoringPage(t *testing.T) {
	t.Parallel()
	binary := build(t)
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		reader := newReader(t, d.Database, filepath.Dir(binary))
		metrics, pages := freeAddress(t), freeAddress(t)
		n := 0
		for _, b := range blocksOf(t, "../../docs/monitoring.md") {
			b.text = strings.NewReplacer(":9310", metrics, "127.0.0.1:8320", pages).Replace(b.text) // others may use these ports
			reader.follow(b)
			n++
		}
		if n < 4 {
			t.Errorf("found %d blocks only", n)
		}
		for _, shown := range []struct{ url, text string }{
			{metrics + "/metrics", "\nnextrun_database_up 1\n"},
			{metrics + "/healthz", "healthy\n"},
			{pages + "/", "nextrun"},
		} {
			reader.shows("http://"+shown.url, shown.text)
		}
	})
}

// shows waits until an address answers with a text.
func (r *reader) shows(url, text string) {
	r.Helper()
	storetest.Eventually(r, url+" shows "+text, func() bool {
		request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, url, nil)
		if err != nil {
			r.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false // it has not started yet
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return err == nil && strings.Contains(string(body), text)
	})
}
