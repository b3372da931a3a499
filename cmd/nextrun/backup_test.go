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

// A backup that was made while a scheduler ran is restored into another database, where nextrun goes on as docs/backup.md
// says of ticks, jobs and events since the backup, and of rev: each tick has one job at most and one record.
func TestBackup(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		nextrun(t, d.URL, ui.Done, "migrate", "up")
		d.Exec(`INSERT INTO periodic_task (id, task, timer, overlap, catchup, grace, sink) VALUES
			('one', 'tick', 'every 1s', 'allow', 'one', 60, 'job'), ('all', 'tick', 'every 1s', 'allow', 'all', 60, 'job'), ('none', 'tick', 'every 1s', 'allow', 'none', 0, 'job'),
			('paused', 'tick', 'every 1s', 'allow', 'all', 60, 'job'), ('anew', 'tick', 'every 1s', 'allow', 'all', 60, 'job'), ('event', 'tick', 'every 1s', 'allow', 'one', 60, 'event')`)
		d.Exec("INSERT INTO job (jid, task, state, started, finished) VALUES ('ended', 'tick', 'success', '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000')")
		p := startProcess(t, d.URL, "scheduler")
		for _, id := range []string{"one", "all", "none", "paused", "anew", "event"} {
			atLeast(t, d, "SELECT count(*) FROM periodic_tick WHERE task_id = '"+id+"'", 2)
		}
		file := backup(t, d)
		newest := d.One("SELECT CAST(max(due) AS text) FROM periodic_tick")
		atLeast(t, d, "SELECT count(*) FROM periodic_tick WHERE task_id = 'all' AND due > '"+newest+"'", 3)
		p.Signal(syscall.SIGKILL)
		p.End()
		d.Exec("UPDATE periodic_task SET subject = 'edited' WHERE id = 'one'")
		before := d.One("SELECT rev FROM periodic_task WHERE id = 'one'")

		r := restore(t, d, file)
		newest = r.One("SELECT CAST(max(due) AS text) FROM periodic_tick")
		waiting, event := r.One("SELECT count(*) FROM job WHERE state = 'waiting'"), r.One("SELECT min(event_id) FROM outbox_message")
		r.Exec("UPDATE periodic_task SET subject = 'edited after the restore' WHERE id = 'one'")
		r.Want("1", "SELECT count(*) FROM periodic_task WHERE id = 'one' AND rev > "+before)
		for _, look := range []string{"check --guarantees", "why one", "preview --until 1h", "migrate status"} {
			nextrun(t, r.URL, ui.Done, strings.Fields(look)...)
		}
		nextrun(t, r.URL, ui.Done, "task", "pause", "paused", "--reason", "restored")
		r.Exec("UPDATE periodic_task SET nextrun = '1970-01-01 00:00:00' WHERE id = 'anew'")
		nextrun(t, r.URL, ui.Done, "scheduler", "--once")

		since := " FROM periodic_tick AS k WHERE due > '" + newest + "' AND task_id = "
		latest := " AND due = (SELECT max(due) FROM periodic_tick AS n WHERE n.task_id = k.task_id)"
		r.Want("1", "SELECT count(*)"+since+"'one' AND decision = 'submitted'"+latest)
		r.Want("missed", "SELECT min(decision)"+since+"'one' AND missed >= 2")
		r.Want("0", "SELECT count(*)"+since+"'one' AND decision = 'submitted' AND due <= (SELECT max(until) FROM periodic_tick WHERE task_id = 'one' AND missed >= 2)")
		r.Want("submitted", "SELECT min(decision)"+since+"'all' AND decision <> 'submitted' OR due > '"+newest+"' AND task_id = 'all'")
		r.Want("0", "SELECT "+seconds(r.Kind)+" + 1 - count(*)"+since+"'all'")
		r.Want("missed", "SELECT min(decision)"+since+"'none'")
		r.Want("0", "SELECT count(*)"+since+"'none' AND decision = 'submitted' AND NOT (1 = 1"+latest+")")
		r.Want("skipped skipped", "SELECT min(decision) || ' ' || max(decision)"+since+"'paused'")
		r.Want("0", "SELECT count(*)"+since+"'anew' AND decided IS NOT NULL AND due < (SELECT since FROM periodic_task WHERE id = 'anew')")
		r.Want(event, "SELECT min(event_id) FROM outbox_message WHERE published IS NULL")

		config := filepath.Join(t.TempDir(), "nextrun.yaml")
		write(t, config, "handlers: {tick: {command: ['true']}}\n")
		startProcess(t, r.URL, "executor", "--config", config).WaitFor(" started ")
		atLeast(t, r, "SELECT count(*) FROM job WHERE state = 'success' AND due <= '"+newest+"' AND started > submitted", atoi(t, waiting))
		r.Want("0", "SELECT count(*) FROM (SELECT 1 FROM job WHERE due IS NOT NULL GROUP BY tracker, due HAVING count(*) > 1) AS doubled")
		r.Want("0", "SELECT count(*) FROM job WHERE due IS NOT NULL AND NOT EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.jid = job.jid AND k.due = job.due)")
		r.Want("1", "SELECT count(*) FROM job WHERE jid = 'ended' AND retries = 0 AND started = '2026-01-01 00:00:00.000000'")
	})
}

func atoi(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
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
