package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// What docs/backup.md says of the ticks, jobs and events since a backup, and of rev.
func TestWhatRunsAgainAfterARestore(t *testing.T) {
	t.Parallel()
	binary := build(t)
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		nextrun(t, d.URL, ui.Done, "migrate", "up")
		d.Exec(`INSERT INTO periodic_task (id, task, timer, overlap, catchup, grace, sink) VALUES
			('one', 'tick', 'every 1s', 'allow', 'one', 60, 'job'), ('all', 'tick', 'every 1s', 'allow', 'all', 60, 'job'), ('none', 'tick', 'every 1s', 'allow', 'none', 0, 'job'),
			('paused', 'tick', 'every 1s', 'allow', 'all', 60, 'job'), ('anew', 'tick', 'every 1s', 'allow', 'all', 60, 'job'), ('event', 'tick', 'every 1s', 'allow', 'one', 60, 'event')`)
		d.Exec("INSERT INTO job (jid, task, state, started, finished) VALUES ('ended', 'tick', 'success', '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000')")
		p := startProcess(t, d.URL, binary, "scheduler")
		for _, id := range []string{"one", "all", "none", "paused", "anew", "event"} {
			atLeast(t, d, "SELECT count(*) FROM periodic_tick WHERE task_id = '"+id+"'", 2)
		}
		file := backup(t, d)
		newest := d.One("SELECT CAST(max(due) AS text) FROM periodic_tick")
		atLeast(t, d, "SELECT count(*) FROM periodic_tick WHERE task_id = 'all' AND due > '"+newest+"'", 3)
		p.signal(syscall.SIGKILL)
		p.end()
		d.Exec("UPDATE periodic_task SET subject = 'edited' WHERE id = 'one'")
		before := d.One("SELECT rev FROM periodic_task WHERE id = 'one'")

		r := restore(t, d, file)
		newest = r.One("SELECT CAST(max(due) AS text) FROM periodic_tick")
		waiting, event := r.One("SELECT count(*) FROM job WHERE state = 'waiting'"), r.One("SELECT min(event_id) FROM outbox_message")
		r.Exec("UPDATE periodic_task SET subject = 'edited after the restore' WHERE id = 'one'")
		r.Want("1", "SELECT count(*) FROM periodic_task WHERE id = 'one' AND rev > "+before)
		for _, look := range []string{"check --guarantees", "why one", "preview --hours 1", "migrate status"} {
			nextrun(t, r.URL, ui.Done, strings.Fields(look)...)
		}
		nextrun(t, r.URL, ui.Done, "task", "pause", "paused", "--reason", "restored")
		r.Exec("UPDATE periodic_task SET nextrun = '1970-01-01 00:00:00' WHERE id = 'anew'")
		nextrun(t, r.URL, ui.Done, "scheduler", "--once")

		since := " FROM periodic_tick AS k WHERE due > '" + newest + "' AND task_id = "
		latest := " AND due = (SELECT max(due) FROM periodic_tick AS n WHERE n.task_id = k.task_id)"
		r.Want("1", "SELECT count(*)"+since+"'one' AND decision = 'submitted'"+latest)
		r.Want("missed", "SELECT min(decision)"+since+"'one' AND missed >= 2")
		r.Want("0", "SELECT count(*) - 1"+since+"'one' AND decision = 'submitted'")
		r.Want("submitted", "SELECT min(decision)"+since+"'all' AND decision <> 'submitted' OR due > '"+newest+"' AND task_id = 'all'")
		r.Want("0", "SELECT "+seconds(r.Kind)+" + 1 - count(*)"+since+"'all'")
		r.Want("missed", "SELECT min(decision)"+since+"'none'")
		r.Want("0", "SELECT count(*)"+since+"'none' AND decision = 'submitted' AND NOT (1 = 1"+latest+")")
		r.Want("skipped skipped", "SELECT min(decision) || ' ' || max(decision)"+since+"'paused'")
		r.Want("0", "SELECT count(*)"+since+"'anew' AND decided IS NOT NULL AND due < (SELECT since FROM periodic_task WHERE id = 'anew')")
		r.Want(event, "SELECT min(event_id) FROM outbox_message WHERE published IS NULL")

		config := filepath.Join(t.TempDir(), "nextrun.yaml")
		write(t, config, "handlers: {tick: {command: ['true']}}\n")
		startProcess(t, r.URL, binary, "executor", "--config", config).waitFor(" started ")
		atLeast(t, r, "SELECT count(*) FROM job WHERE state = 'success' AND due <= '"+newest+"' AND started > submitted", atoi(t, waiting))
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

// A recovery of the whole server to a point in time brings back what the page says of a backup: the ticks up to then,
// each with its job.
func TestPointInTimeRecovery(t *testing.T) {
	t.Parallel()
	binary := build(t)
	server := storetest.PostgresServer(t)
	d := storetest.At(t, server.URL())
	data := d.One("SHOW data_directory")
	archive := filepath.Join(filepath.Dir(data), "archive") // where the server may write, whoever it runs as
	if _, err := os.Stat(data); err != nil {
		t.Fatalf("the server's files are elsewhere; run this test on a server of this machine: %v", err)
	}
	nextrun(t, d.URL, ui.Done, "migrate", "up")
	d.Exec("ALTER SYSTEM SET archive_mode = on")
	d.Exec("ALTER SYSTEM SET archive_command = 'mkdir -p " + archive + " && cp %p " + archive + "/%f'")
	server.Stop()
	base := filepath.Join(t.TempDir(), "base")
	tool(t, "cp", "-a", data, base)
	server.Start()

	d.Exec("INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES ('all', 'tick', 'every 1s', 'allow', 'all')")
	p := startProcess(t, d.URL, binary, "scheduler")
	atLeast(t, d, "SELECT count(*) FROM periodic_tick", 2)
	d.Exec("SELECT pg_create_restore_point('before')")
	atLeast(t, d, "SELECT count(*) FROM periodic_tick", 5)
	p.signal(syscall.SIGKILL)
	p.end()
	lost := d.One("SELECT CAST(max(due) AS text) FROM periodic_tick")
	segment := d.One("SELECT pg_walfile_name(pg_switch_wal())")
	storetest.Eventually(t, "the log is archived", func() bool {
		return d.One("SELECT CASE WHEN last_archived_wal >= '"+segment+"' THEN 'all' END FROM pg_stat_archiver") == "all"
	})

	server.Stop()
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	tool(t, "cp", "-a", base, data)
	recovery, err := os.OpenFile(filepath.Join(data, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(recovery, "restore_command = 'cp %s/%%f %%p'\nrecovery_target_name = 'before'\nrecovery_target_action = 'promote'\n", archive)
	if err := recovery.Close(); err != nil {
		t.Fatal(err)
	}
	tool(t, "cp", "-a", filepath.Join(data, "PG_VERSION"), filepath.Join(data, "recovery.signal")) // its content does not matter
	server.Start()
	storetest.Eventually(t, "the server is recovered", func() bool { return d.One("SELECT pg_is_in_recovery()::text") == "false" })

	newest := d.One("SELECT CAST(max(due) AS text) FROM periodic_tick")
	if newest >= lost {
		t.Fatalf("the newest tick is that of %s, not of a time before %s", newest, lost)
	}
	nextrun(t, d.URL, ui.Done, "scheduler", "--once")
	d.Want("0", "SELECT "+seconds(d.Kind)+" + 1 - count(*) FROM periodic_tick WHERE decision = 'submitted'")
	d.Want("0", "SELECT count(*) FROM periodic_tick AS k WHERE NOT EXISTS (SELECT 1 FROM job WHERE jid = k.jid AND due = k.due)")
	d.Want("1", "SELECT count(*) FROM periodic_tick WHERE due = '"+lost+"'")
	nextrun(t, d.URL, ui.Done, "check", "--guarantees")
}
