package main_test

import (
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// A backup that was made while everything ran is restored into another database, where
// nextrun goes on: each tick has one job at most and one record, those since the backup
// are accounted for, and what was in the backup runs no second time unless it had not ended.
func TestBackup(t *testing.T) {
	t.Parallel()
	binary := build(t)
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		config := filepath.Join(t.TempDir(), "nextrun.yaml")
		write(t, config, "handlers: {tick: {command: ['true']}}\n")
		nextrun(t, d.URL, ui.Done, "migrate", "up")
		d.Exec(`INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES
			('skip', 'tick', 'every 1s', 'skip', 'one'), ('queue', 'tick', 'every 1s', 'queue', 'all'), ('allow', 'tick', 'every 1s', 'allow', 'all')`)
		p := startProcess(t, d.URL, binary, "serve", "--config", config)
		p.waitFor("INFO  started  ")
		const done = "SELECT count(*) FROM job WHERE state = 'success'"
		atLeast(t, d, done, 10)
		restored := restore(t, d, backup(t, d))
		before := restored.One(done)
		newest := restored.One("SELECT CAST(max(due) AS text) FROM periodic_tick")
		p.signal(syscall.SIGKILL) // the machine is lost
		p.end()

		startProcess(t, restored.URL, binary, "serve", "--config", config).waitFor("INFO  started  ")
		for _, id := range []string{"skip", "queue", "allow"} {
			atLeast(t, restored, "SELECT count(*) FROM job WHERE state = 'success' AND tracker = '"+id+"' AND due > '"+newest+"'", 3)
		}
		if before == "0" {
			t.Error("the backup has no jobs that have ended")
		}
		restored.Want("0", "SELECT count(*) FROM (SELECT 1 FROM job WHERE due IS NOT NULL GROUP BY tracker, due HAVING count(*) > 1) AS doubled")
		restored.Want("0", `SELECT count(*) FROM periodic_tick AS t WHERE decision = 'submitted'
			AND NOT EXISTS (SELECT 1 FROM job WHERE job.jid = t.jid AND job.tracker = t.task_id AND job.due = t.due)`)
		restored.Want("0", "SELECT count(*) FROM job WHERE due IS NOT NULL AND NOT EXISTS (SELECT 1 FROM periodic_tick AS t WHERE t.jid = job.jid)")
		// With catchup all, no second is left out, neither before nor after the backup.
		for _, id := range []string{"queue", "allow"} {
			restored.Want("0", "SELECT "+seconds(d.Kind)+" + 1 - count(*) FROM periodic_tick WHERE task_id = '"+id+"'")
		}
	})
}

// seconds is SQL for the time from the first tick to the last.
func seconds(kind string) string {
	if kind == storetest.Postgres {
		return "extract(epoch FROM max(due) - min(due))::int"
	}
	return "CAST(round((julianday(max(due)) - julianday(min(due))) * 86400) AS int)"
}

func atLeast(t *testing.T, d *storetest.Database, count string, n int) {
	t.Helper()
	enough := fmt.Sprintf("SELECT CASE WHEN (%s) >= %d THEN 'enough' END", count, n)
	storetest.Eventually(t, count, func() bool { return d.One(enough) == "enough" })
}

// backup saves a database as docs/backup.md says.
func backup(t *testing.T, d *storetest.Database) (file string) {
	t.Helper()
	storetest.Client(t, d.Kind)
	file = filepath.Join(t.TempDir(), "backup")
	if d.Kind == storetest.Postgres {
		tool(t, "pg_dump", "--format=custom", "--file="+file, d.URL)
	} else {
		tool(t, "sqlite3", strings.TrimPrefix(d.URL, "sqlite:"), ".backup '"+file+"'")
	}
	return file
}

// restore makes another database of a backup.
func restore(t *testing.T, d *storetest.Database, file string) *storetest.Database {
	t.Helper()
	if d.Kind == storetest.SQLite {
		return storetest.At(t, "sqlite:"+file)
	}
	restored := storetest.New(t, d.Kind)
	tool(t, "pg_restore", "--no-owner", "--no-privileges", "--dbname="+restored.URL, file)
	return restored
}

func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// A list of hosts, as docs/operations.md has it, leads to the one that
// accepts writes.
func TestFailoverURL(t *testing.T) {
	t.Parallel()
	d := storetest.New(t, storetest.Postgres)
	nextrun(t, d.URL, ui.Done, "migrate", "up", "--db", several(t, d.URL, "read-write"))
	nextrun(t, d.URL, ui.Done, "task", "list", "--db", several(t, d.URL, "read-write"))
	nextrun(t, d.URL, ui.Failed, "task", "list", "--db", several(t, d.URL, "standby")) // there is none
}

// several is the URL with a host before it on which nothing listens.
func several(t *testing.T, address, attributes string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("host", "127.0.0.1,"+u.Hostname())
	query.Set("port", "1,"+u.Port())
	query.Set("target_session_attrs", attributes)
	u.Host, u.RawQuery = "", query.Encode()
	return u.String()
}
