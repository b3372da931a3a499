package task_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// record adds a tick of the task t, decided soon after it was due.
func record(due, decision, more, values string) string {
	if more != "" {
		more, values = ", "+more, ", "+values
	}
	return "INSERT INTO periodic_tick (task_id, due, decision, decided, worker" + more + ") VALUES ('t', '" + due + "', '" + decision + "', '" + due[:17] + "00.250000', 'sched@1'" + values + ")"
}

// line adds a line to the log of the job j.
func line(at, message string) string {
	return "INSERT INTO joblog (id, jid, level, created, message) VALUES ('" + at + message[:1] + "', 'j', 'info', '" + at + "', '" + message + "')"
}

const (
	tuesday = "2026-03-24 14:00:00.000000"
	notYet  = "UPDATE periodic_task SET created = '2026-01-01 00:00:00.000000'"
)

// The story of a tick says what became of it, step by step.
func TestStory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql   []string
		at    string
		state string
		says  []string
	}{
		"it ran at the second attempt": {[]string{
			record(tuesday, "submitted", "jid", "'j'"),
			"INSERT INTO job (jid, task, tracker, due, state, retries, worker, submitted, started, finished, result) VALUES ('j', 'backup', 't', '" + tuesday +
				"', 'success', 1, 'w2@00000000000b', '2026-03-24 14:00:00.250000', '2026-03-24 14:01:06.000000', '2026-03-24 14:01:16.000000', 'all copied')",
			line("2026-03-24 14:00:01.000000", "attempt 1 begins on w1@b"), line("2026-03-24 14:00:02.000000", "copying"),
			line("2026-03-24 14:00:06.000000", "failed, to be tried again in 1m0s: disk is full"), line("2026-03-24 14:01:06.000000", "attempt 2 begins on w2@b"),
			"INSERT INTO job (jid, task, group_, state, retries, submitted, finished, args) VALUES ('e', 'nextrun.hook', 'nextrun.hooks', 'success', 2, '2026-03-24 14:01:16.000000', '2026-03-24 14:01:18.000000', '{\"hook\": \"on_success\", \"event\": \"success\", \"job\": {\"id\": \"j\"}}')",
			"INSERT INTO job (jid, task, group_, submitted, args) VALUES ('other', 'nextrun.hook', 'nextrun.hooks', '2026-03-24 14:01:16.000000', '{\"hook\": \"of-another-job\", \"job\": {\"id\": \"k\"}}')",
		}, "2026-03-24 14:00", "success", []string{
			"The tick of 2026-03-24 14:00:00 UTC ran and succeeded at 2026-03-24 14:01:16 UTC, 1 min 16 s after it was due, after 2 attempts.",
			"14:00:00.250 UTC decided - submitted, by the scheduler sched; handler backup, group",
			"14:01:06.000 UTC attempt 2 10 s on w2: success: all copied",
			"14:01:16.000 UTC hook 2.00 s on_success (success): success, failed attempts: 2",
			"The end of the log of job j: attempt 1 begins on w1@b copying failed", "! of-another-job",
		}},
		"in between, the nearest one is told": {[]string{record(tuesday, "skipped", "reason", "'its last job still runs'"), record("2026-03-24 15:00:00.000000", "late", "", "")},
			"2026-03-24 14:20", "skipped", []string{"No tick was due at 2026-03-24 14:20:00 UTC. The nearest one, of 2026-03-24 14:00:00 UTC (20 min earlier), was skipped: its last job still runs.",
				"tick after 2026-03-24 15:00:00 UTC"}},
		"the next one is due, and nobody has taken it": {[]string{record(tuesday, "skipped", "", ""),
			"UPDATE periodic_task SET due = '2026-03-24 15:00:00.000000', nextrun = '2026-03-24 15:00:00.000000'"},
			"2026-03-24 14:00", "skipped", []string{"tick after 2026-03-24 15:00:00 UTC, "}},
		"several were missed": {[]string{record("2026-03-24 12:00:00.000000", "missed", "missed, until, reason", "4, '2026-03-24 15:00:00.000000', 'no scheduler ran in time'")},
			"2026-03-24 14:00", "missed", []string{"The ticks from 2026-03-24 12:00:00 UTC to 2026-03-24 15:00:00 UTC were missed together: no scheduler ran in time.", "the first of 4 ticks until"}},
		"the job has been deleted": {[]string{record(tuesday, "submitted", "jid", "'gone'")}, "2026-03-24 14:00", "submitted", []string{"was submitted as gone, which has been deleted since."}},
		"it failed in another queue": {[]string{"UPDATE periodic_task SET sink = 'river'",
			record(tuesday, "submitted", "jid, outcome, finished, attempts, error", "'17', 'failed', '2026-03-24 14:00:09.000000', 3, 'disk is full'")}, "2026-03-24 14:00", "failed",
			[]string{`was submitted to the queue "river" as job 17, which failed at 2026-03-24 14:00:09 UTC, after 3 attempts: disk is full`, "14:00:09.000 UTC ended -"}},
		"no record":           {[]string{notYet, record(tuesday, "skipped", "", "")}, "2026-03-24 15:00", "none", []string{"The timer elapses at 2026-03-24 15:00:00 UTC, and no tick of that time is recorded. Its record may have been deleted"}},
		"older than the task": {nil, "2026-03-24 14:00", "none", []string{"the task was created later, at "}},
		"to come while paused": {[]string{"UPDATE periodic_task SET paused = '2026-01-01 00:00:00', paused_by = 'ada', paused_reason = 'moving'"}, "2199-01-01 00:00", "none",
			[]string{`is to come, and will be skipped: the task is paused, with the note "ada: moving".`}},
		"to come, and to be skipped": {[]string{"INSERT INTO periodic_tick (task_id, due, decision, reason) VALUES ('t', '2199-01-01 00:00:00.000000', 'skipped', 'moving')"},
			"2199-01-01 00:00", "none", []string{`The tick of 2199-01-01 00:00:00 UTC is to come, and will be left out by hand, with the note "moving".`}},
		"to come, on a holiday": {[]string{"INSERT INTO periodic_calendar (name, first_day, reason) VALUES ('c', '2199-01-01', 'New Year')", "UPDATE periodic_task SET exclude_calendars = 'c'"},
			"2199-01-01 00:00", "none", []string{"is to come, and will be left out: calendar c: New Year."}},
		"while it was paused": {[]string{record(tuesday, "skipped", "cause, reason", "'paused', 'grace'")}, "2026-03-24 14:00", "skipped",
			[]string{`was skipped: the task was paused, with the note "grace".`, `skipped: the task was paused, with the note "grace", by the scheduler sched`}},
		"never": {nil, "2199-01-01 00:01", "none", []string{"The timer does not elapse at 2199-01-01 00:01:00 UTC. The next tick after it is that of 2199-01-01 01:00:00 UTC."}},
		"an event was given up": {[]string{"UPDATE periodic_task SET sink = 'event'", record(tuesday, "submitted", "jid", "'e'"),
			"INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, created) VALUES ('e', 'default', 'backup', 't', 1, '2026-03-24 14:00:00.250000')",
			"INSERT INTO outbox_message (event_id, topic, created, dead, attempts, problem) VALUES ('e', 'default', '" + tuesday + "', '2026-03-24 14:00:09.000000', 5, 'status 400')"},
			"2026-03-24 14:00", "failed", []string{"became an event, which was given up at 2026-03-24 14:00:09 UTC, after 5 attempts: status 400.", "14:00:09.000 UTC ended"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
				s.Exec(t, "INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'backup', 'hourly')")
				for _, statement := range c.sql {
					s.Exec(t, statement)
				}
				s.Says(t, ui.Done, "why t --at '"+c.at+"'", c.says...)
				var story struct {
					State string
					Steps []struct {
						Step string
						From time.Time
					}
				}
				s.JSON(t, &story, "why", "t", "--at", c.at)
				if story.State != c.state || story.Steps == nil || (len(story.Steps) > 0) != (c.state != "none") {
					t.Errorf("as JSON: %+v", story)
				}
			})
		})
	}
}
