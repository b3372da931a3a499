package check_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// What SQL can write, and nobody means: ticks that are late by design, pauses that begin later, a next run that is no tick of
// the timer, values that a queue does not take, and on PostgreSQL an empty id.
func TestCheckOfRows(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.MakeRiver(t)
		config := clitest.WriteFile(t, "nextrun.yaml", "queues:\n  river: {type: river, queue: x}\n  first: {type: river, queue: x, priority: 1}\n")
		for columns, rows := range map[string]string{
			"id, deadline, jitter": "('none', 0, 0), ('jitter', 0, 30), ('good1', 20, 30), ('good2', 1, 0)",
			"id, paused, paused_until": `('future', '2199-01-01 00:00:00', NULL), ('good3', '2026-01-01 00:00:00', '2026-01-02 00:00:00'),
				('good4', '2026-01-01 00:00:00', NULL), ('good5', '2026-01-01 00:00:00', '2199-01-01 00:00:00')`,
			"id, nextrun": "('hand', '2199-01-01 19:00:00'), ('good6', '2199-01-01 18:00:00')",
			"id, sink, retry_limit, timeout, priority": `('event', 'event', NULL, 60, 5), ('good7', 'event', NULL, NULL, 0), ('good8', 'job', 0, 60, 5),
				('good9', 'river', 0, NULL, 5), ('slow', 'river', 0, 60, 5), ('first', 'first', NULL, NULL, 5)`,
		} {
			s.Exec(t, "INSERT INTO periodic_task (task, timer, "+columns+") VALUES "+strings.ReplaceAll(rows, "('", "('x', '*-*-* 18:00', '"))
		}
		s.Says(t, ui.Done, "check --config "+config, "! task good",
			"warning task none deadline is 0 seconds, so every tick is late", "warning task jitter deadline is 0 seconds, so every tick is late",
			"warning task future It is paused already, although its `paused` is 2199-01-01 00:00:00 UTC, which is to come.",
			"warning task hand Its next run was set by hand to 2199-01-01 19:00:00 UTC; its timer elapses at ", "That is 1 hour after a time of its timer",
			"To plan it by its timer: nextrun task disable hand && nextrun task enable hand",
			"warning task event no effect with sink event: timeout",
			"warning task slow no effect with sink river: timeout; set that in the queue, or in its workers",
			"warning task first no effect with sink first: priority; set that in the queue, or in its workers")
		if storetest.At(t, s.Env["NEXTRUN_DB"]).Kind == storetest.Postgres {
			s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('', 'x', 'daily')`)
			s.Says(t, ui.Changes, "check --config "+config, "errors: 1", "error task its id is empty, so commands cannot name it")
		}
	})
}

// Tasks that wait for a scheduler, events that wait for a relay or were refused, and hooks that were not delivered are named; events
// that have just been written are not.
func TestCheckNamesWhatWaits(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "h", "--timer", "yearly")
		s.Must(t, "scheduler", "--once")
		for topic, problem := range map[string]string{"orders": "NULL", "refused": "'no answer'", "new": "NULL"} {
			s.Exec(t, `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('`+topic+`', '`+topic+`', 'x', '`+topic+`', 1)`)
			s.Exec(t, `INSERT INTO outbox_message (event_id, topic, problem) VALUES ('`+topic+`', '`+topic+`', `+problem+`)`)
		}
		s.Says(t, ui.Done, "check", "! wait for a scheduler")
		s.Exec(t, `UPDATE outbox_message SET created = '2026-01-01 00:00:00.000000' WHERE topic <> 'new'`)
		s.Exec(t, `INSERT INTO job (jid, task, group_, subject, state, result) VALUES ('h', 'nextrun.hook', 'nextrun.hooks', 'failure of a', 'failed', 'answered 404')`)
		s.Exec(t, "UPDATE periodic_task SET due = '2026-01-01 00:00:00.000000', nextrun = '2026-01-01 00:00:00.000000', created = '2025-12-01 00:00:00.000000'")
		s.Exec(t, "UPDATE periodic_task SET since = '2025-12-01 00:00:00.000000'")
		s.Says(t, ui.Done, "check", "warning schedulers tasks that wait for a scheduler: 1, the longest for ", "To start one: nextrun serve",
			"topic orders events that wait: 1, the oldest for ", "was refused: no answer; see: nextrun event list --topic refused", "! topic new",
			"hooks hooks that were not delivered: 1; the newest: failure of a: answered 404; see: nextrun job list --group nextrun.hooks --state failed,retrying")
	})
}

// A job whose handler no executor has is named by check and by status, also one that belongs to no task.
func TestJobsWithoutAHandlerAreNamed(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		config := clitest.WriteFile(t, "nextrun.yaml", "handlers: {backup: {command: [echo]}}\n")
		s.Start(t, "serve", "--config", config).WaitFor("started", "name=test")
		s.Submit(t, "bakcup")
		s.Submit(t, "bakcup")
		const named = `no executor that runs has a handler "bakcup"`
		if r := s.Says(t, ui.Done, "check --config "+config); strings.Count(r.Stdout, named) != 1 {
			t.Errorf("check says:\n%s", r.Stdout)
		}
		s.Says(t, ui.Changes, "status", named)
	})
}

// After logical replication a sequence is behind its table: that is named with the remedy, which sets it right.
func TestSequenceBehindItsTable(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL}}
	d.Exec(`INSERT INTO event_store (id, seq, topic, type, aggregate_id, aggregate_version) VALUES ('old', 1, 'a', 'b', 'c', 1);
		INSERT INTO outbox_message (id, event_id, topic) VALUES (1, 'old', 'a')`)
	s.Says(t, ui.Changes, "check", "setval(pg_get_serial_sequence('outbox_message', 'id'), (SELECT max(id) FROM outbox_message))",
		"setval(pg_get_serial_sequence('event_store', 'seq')")
	d.Exec(`SELECT setval(pg_get_serial_sequence('outbox_message', 'id'), (SELECT max(id) FROM outbox_message));
		SELECT setval(pg_get_serial_sequence('event_store', 'seq'), (SELECT max(seq) FROM event_store))`)
	if got := s.Run(t.Context(), "check"); strings.Contains(got.Stdout, "setval") {
		t.Errorf("check still names a sequence:\n%s", got.Stdout)
	}
}

// The status is the first page in a terminal: what needs attention, what runs, and what is next, in this order.
func TestStatus(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "status", "0 tasks: add one with nextrun task add", "no scheduler runs; jobs: 0 waiting, 0 running")
		s.Must(t, "task", "add", "good", "--handler", "h", "--timer", "yearly")
		s.Must(t, "task", "add", "bad", "--handler", "h", "--timer", "yearly")
		s.Must(t, "task", "add", "off", "--handler", "h", "--timer", "yearly")
		s.Must(t, "task", "disable", "off")
		s.Exec(t, `UPDATE periodic_task SET due = '2098-01-01 00:00:00.000000', nextrun = '2098-01-01 00:00:00.000000' WHERE id = 'good'`)
		s.Exec(t, `UPDATE periodic_task SET problem = 'no such zone' WHERE id = 'bad'`)
		s.Exec(t, `UPDATE periodic_task SET paused = '2026-01-01 00:00:00', paused_until = '2097-01-01 00:00:00' WHERE id = 'good'`)
		day := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		for id, at := range map[string]time.Time{"skips": day, "noon": day.Add(12 * time.Hour)} {
			s.Must(t, "task", "add", id, "--handler", "h", "--timer", "daily")
			s.Exec(t, fmt.Sprintf(`UPDATE periodic_task SET due = '%[1]s', nextrun = '%[1]s' WHERE id = '%[2]s'`, at.Format("2006-01-02 15:04:05.000000"), id))
		}
		s.Must(t, "task", "skip", "skips")
		s.Exec(t, `INSERT INTO job (jid, task, tracker, group_, subject, state, worker, started) VALUES ('0123456789-end', 'h', 'good', 'g', 's', 'running', 'w', '2026-01-01 00:00:00')`)
		s.Says(t, ui.Done, "task list --state problem", "bad blocked ", "no such zone", "! good")
		r := s.Says(t, ui.Changes, "status")
		out := strings.Join(strings.Fields(r.Stdout), " ")
		at := 0
		for _, want := range []string{
			"5 tasks: 1 needs attention, ", "1 disabled no scheduler runs; jobs: 0 waiting, 1 running", "NEEDS ATTENTION WHY bad ", "no such zone",
			"RUNNING JOB SINCE WORKER good 0123456789-end ", "NEXT IN AT HANDLER noon ", "skips ", "good in 71 y",
		} {
			next := strings.Index(out[at:], want)
			if next < 0 {
				t.Fatalf("the status lacks %q, or has it elsewhere:\n%s%s", want, r.Stdout, r.Stderr)
			}
			at += next
		}
		var got struct {
			Need      int                      `json:"need_attention"`
			Attention []struct{ About string } `json:"attention"`
			Running   []struct{ Task string }  `json:"running"`
		}
		clitest.Decode(t, s.Run(t.Context(), "status", "--json").Stdout, &got)
		if got.Need != 1 || len(got.Attention) != 1 || got.Attention[0].About != "bad" || len(got.Running) != 1 || got.Running[0].Task != "good" {
			t.Errorf("as JSON: %+v", got)
		}
	})
}

// The status lists what it counts: rows that cannot run, then what has been wrong longest. What is not shown is counted, and neither
// paused nor blocked tasks are next.
func TestStatusListsWhatItCounts(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for i := range 12 {
			s.Exec(t, fmt.Sprintf(`INSERT INTO periodic_task (id, task, timer, nextrun, since) VALUES ('t%02d', 'h', 'yearly', '2026-01-%02d 00:00:00.000000', '2025-12-01')`, i, 20-i))
		}
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, paused) VALUES ('paused', 'h', 'yearly', '2026-01-01 00:00:00')`)
		s.Exec(t, `UPDATE periodic_task SET problem = 'no such zone' WHERE id = 't00'`)
		r := s.Says(t, ui.Changes, "status", "13 tasks: 12 need attention (12 overdue), 1 paused", "and 2 more: nextrun task list --state attention", "! paused until")
		_, list, _ := strings.Cut(r.Stdout, "NEEDS ATTENTION")
		list, next, _ := strings.Cut(list, "NEXT")
		ids := regexp.MustCompile(`(?m)^t\d\d`).FindAllString(list, -1)
		if strings.Join(ids, " ") != "t00 t11 t10 t09 t08 t07 t06 t05 t04 t03" || strings.Contains(next, "blocked") || strings.Contains(next, "paused") {
			t.Errorf("the status has other tasks, or in another order:\n%s", r.Stdout)
		}
	})
}

// A restore without triggers that broke off leaves them disabled: edits would go unnoticed.
func TestDisabledTriggers(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL}}
	d.Exec("ALTER TABLE periodic_tick DISABLE TRIGGER ALL")
	const remedy = "ALTER TABLE periodic_tick ENABLE TRIGGER nextrun_tick_skipped; ALTER TABLE periodic_tick ENABLE TRIGGER nextrun_tick_unskipped"
	s.Says(t, ui.Changes, "check", "triggers of nextrun are disabled", remedy)
	d.Exec(remedy)
	if got := s.Run(t.Context(), "check"); strings.Contains(got.Stdout, "disabled") {
		t.Errorf("check still names triggers:\n%s", got.Stdout)
	}
}
