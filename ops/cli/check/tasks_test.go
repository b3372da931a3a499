package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
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
