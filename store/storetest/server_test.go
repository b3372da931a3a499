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

	"github.com/nextrun/nextrun/store/storetest"
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
	var address, dir string
	t.Run("user", func(t *testing.T) {
		server := storetest.PostgresServer(t)
		address = host(t, server.URL())
		dir = clusterDirectory(t, server.URL())
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there after the test (%v)", dir, err)
	}
	if connection, err := net.Dial("tcp", address); err == nil {
		_ = connection.Close()
		t.Errorf("%s still accepts connections", address)
	}
}

// TestServerEndsWithItsProcess ends a test program in several ways; the child
// is this program, running TestChild.
func TestServerEndsWithItsProcess(t *testing.T) {
	t.Parallel()
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
			var dirs []string
			for lines := bufio.NewScanner(output); lines.Scan(); {
				if dir, found := strings.CutPrefix(lines.Text(), "cluster "); found {
					dirs = append(dirs, dir)
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
			if len(dirs) != 2 {
				t.Fatalf("the child had the clusters %v, want a shared and a private one", dirs)
			}
			for _, dir := range dirs {
				waitUntilGone(t, dir)
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
		_, _ = os.Stdout.WriteString("cluster " + clusterDirectory(t, address) + "\n")
	}
	_, _ = os.Stdout.WriteString("ready\n")
	switch ending {
	case "panic":
		panic("on purpose")
	case "kill":
		select {}
	}
}

// waitUntilGone polls: the one who removes the directory is nobody's child.
func waitUntilGone(t *testing.T, dir string) {
	t.Helper()
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for deadline := time.Now().Add(storetest.Patience); ; <-every.C {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", dir)
		}
	}
}

// clusterDirectory is the temporary directory that holds the server's data.
func clusterDirectory(t *testing.T, address string) string {
	t.Helper()
	return filepath.Dir(query[string](t, connect(t, address), `SHOW data_directory`))
}

func host(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
