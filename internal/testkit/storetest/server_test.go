package storetest_test

import (
	"bufio"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

func TestServerKeepsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	server := storetest.PostgresServer(t)
	db := connect(t, server.URL())
	execute(t, db, `CREATE TABLE job (jid text)`)
	begun, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begun.Exec(`INSERT INTO job VALUES ('begun')`); err != nil {
		t.Fatal(err)
	}
	execute(t, db, `INSERT INTO job VALUES ('committed')`)

	server.Stop()
	if err := begun.Commit(); err == nil {
		t.Error("a transaction outlived its server")
	}
	if err := db.Ping(); err == nil {
		t.Error("the stopped server answers")
	}
	server.Start()
	if got := query[string](t, db, `SELECT string_agg(jid, ' ') FROM job`); got != "committed" {
		t.Errorf("the jobs after the stop are %q, want only the committed one", got)
	}
}

func TestServerIsNotTheSharedOne(t *testing.T) {
	t.Setenv(storetest.ServerVariable, "postgres://nobody@127.0.0.1:1/postgres")
	if err := connect(t, storetest.PostgresServer(t).URL()).Ping(); err != nil {
		t.Errorf("the server that may be stopped: %v", err)
	}
}

func TestServerCannotBeStoppedTwice(t *testing.T) {
	t.Parallel()
	recorder := &recorder{TB: t}
	server := storetest.PostgresServer(recorder)
	server.Stop()
	// A server left stopped must not make the end of the test fail either.
	message := recorder.record(server.Stop)
	if !strings.Contains(message, "told with-postgres to stop: failed: ") || !strings.Contains(message, "running") {
		t.Errorf("the second Stop says %q", message)
	}
}

func TestServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var ended server
	t.Run("user", func(t *testing.T) {
		ended = serverAt(t, storetest.PostgresServer(t).URL())
	})
	if left := ended.left(); left != "" {
		t.Errorf("after the test %s", left)
	}
}

// TestServerEndsWithItsProcess ends a test program in several ways; the child
// is this program, running TestChild.
func TestServerEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	storetest.Need(t, storetest.Postgres)
	for _, ending := range []string{"exit", "panic", "kill"} {
		t.Run(ending, func(t *testing.T) {
			t.Parallel()
			child := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
			child.Env = append(os.Environ(), "STORETEST_CHILD="+ending, storetest.ServerVariable+"=")
			output, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			var servers []server
			for lines := bufio.NewScanner(output); lines.Scan(); {
				if found, is := strings.CutPrefix(lines.Text(), "server "); is {
					address, dir, _ := strings.Cut(found, " ")
					servers = append(servers, server{address, dir})
				}
				if lines.Text() == "ready" && ending == "kill" {
					if err := child.Process.Kill(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := child.Wait(); (err == nil) != (ending == "exit") {
				t.Errorf("the child ended with %v", err)
			}
			if len(servers) != 2 {
				t.Fatalf("the child had the servers %v, want a shared and a private one", servers)
			}
			for _, s := range servers {
				s.waitUntilGone(t)
			}
		})
	}
}

func TestChild(t *testing.T) {
	ending := os.Getenv("STORETEST_CHILD")
	if ending == "" {
		return // this is a part of TestServerEndsWithItsProcess
	}
	for _, address := range []string{storetest.PostgresURL(t), storetest.PostgresServer(t).URL()} {
		s := serverAt(t, address)
		_, _ = os.Stdout.WriteString("server " + s.address + " " + s.dir + "\n")
	}
	_, _ = os.Stdout.WriteString("ready\n")
	switch ending {
	case "panic":
		panic("on purpose")
	case "kill":
		select {}
	}
}

// server is what a server that has ended must not leave behind.
type server struct {
	address string // host and port
	dir     string // the temporary directory with its data; empty: in a container
}

func serverAt(t *testing.T, address string) server {
	t.Helper()
	dir := filepath.Dir(query[string](t, connect(t, address), `SHOW data_directory`))
	if !strings.HasPrefix(filepath.Base(dir), "nextrun-postgres.") { // see scripts/lib/cluster.sh
		dir = ""
	}
	return server{host(t, address), dir}
}

// left says what is left of the server, or nothing.
func (s server) left() string {
	if connection, err := net.Dial("tcp", s.address); err == nil {
		_ = connection.Close()
		return s.address + " still accepts connections"
	}
	if s.dir == "" {
		return ""
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		return s.dir + " is still there"
	}
	return ""
}

// waitUntilGone polls: the one who removes the server is nobody's child.
func (s server) waitUntilGone(t *testing.T) {
	t.Helper()
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for deadline := time.Now().Add(storetest.Patience); s.left() != ""; <-every.C {
		if time.Now().After(deadline) {
			t.Fatal(s.left())
		}
	}
}

func host(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
