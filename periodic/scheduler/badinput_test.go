package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// What a row must not say is refused by the table, in an INSERT and in an
// UPDATE, and the message names the column.
func TestBadInputIsRefused(t *testing.T) {
	values := []struct{ column, value, message string }{
		{"overlap", "'never'", "overlap"},
		{"overlap", "'SKIP'", "overlap"},
		{"overlap", "''", "overlap"},
		{"overlap", "NULL", "overlap"},
		{"catchup", "'some'", "catchup"},
		{"catchup", "NULL", "catchup"},
		{"sink", "'Drain'", "sink"},
		{"grace", "-1", "grace"},
		{"grace", "NULL", "grace"},
		{"grace", "99999999999", ""},
		{"grace", "'soon'", ""},
		{"deadline", "-1", "deadline"},
		{"deadline", "'soon'", ""},
		{"jitter", "-1", "jitter"},
		{"jitter", "-2147483648", "jitter"},
		{"jitter", "NULL", "jitter"},
		{"enabled", "NULL", "enabled"},
		{"enabled", "'maybe'", ""},
		{"enabled", "7", "enabled"},
		{"priority", "'high'", ""},
		{"priority", "NULL", "priority"},
		{"task", "NULL", "task"},
		{"timer", "NULL", "timer"},
		{"args", "NULL", "args"},
		{"nextrun", "NULL", "nextrun"},
		{"nextrun", "'0001-01-01 00:00:00'", "nextrun"},
		{"nextrun", "'1969-12-31 23:59:59'", "nextrun"},
		{"nextrun", "'infinity'", "nextrun"},
		{"nextrun", "'-infinity'", "nextrun"},
		{"nextrun", "'10000-01-01 00:00:00'", "nextrun"},
		{"starts", "'-infinity'", "starts"},
		{"starts", "'0001-01-01 00:00:00'", "starts"},
		{"ends", "'infinity'", "ends"},
		{"id", "'" + strings.Repeat("x", 255) + "'", ""},
		{"timer", "'" + strings.Repeat("x", 255) + "'", ""},
		{"summary", "'" + strings.Repeat("x", 255) + "'", ""},
		{"starts", "'2026-01-02 00:00:00', ends = '2026-01-02 00:00:00'", ""},
		{"starts", "'2026-01-03 00:00:00', ends = '2026-01-02 00:00:00'", ""},
	}
	both(t, func(f *fixture) {
		f.exec(insertTask, "good", "daily")
		for _, v := range values {
			if v.column != "id" && v.column != "task" && v.column != "timer" && !strings.Contains(v.value, "=") {
				f.refused(v.message, "INSERT INTO periodic_task (id, task, timer, "+v.column+") VALUES ('bad', 'backup', 'daily', "+v.value+")")
			}
			f.refused(v.message, "UPDATE periodic_task SET "+v.column+" = "+v.value)
		}
		f.refused("", "INSERT INTO periodic_task (id, task, timer, starts, ends) VALUES ('bad', 'backup', 'daily', '2026-01-03 00:00:00', '2026-01-02 00:00:00')")
		f.refused("", "INSERT INTO periodic_task (id, task, timer) VALUES ('good', 'backup', 'daily')")
		f.want(1, "SELECT count(*) FROM periodic_task")
		f.want("good", "SELECT id FROM periodic_task WHERE overlap = 'skip' AND enabled")
	})
}

// Rows that were there before nextrun are not covered by its triggers. Whatever
// time they hold, it stops nothing, delays nobody, and does not spin.
func TestBadInputTimesFromBefore(t *testing.T) {
	f := newPostgresFixture(t)
	f.exec("ALTER TABLE periodic_task DISABLE TRIGGER USER")
	times := []string{"-infinity", "infinity", "0001-01-01 00:00:00", "4713-01-01 00:00:00 BC", "0099-12-31 00:00:00 BC", "9999-12-31 23:59:59",
		"10000-01-01 00:00:00", "294276-12-31 23:59:59.999999"}
	for i, at := range times {
		for _, timer := range []string{"daily", "every 15m", "nonsense"} {
			f.exec("INSERT INTO periodic_task (id, task, timer, nextrun, created) VALUES (?, 'backup', ?, ?, ?)",
				timer+string(rune('a'+i)), timer, at, at)
		}
	}
	f.exec("UPDATE periodic_task SET starts = '-infinity', ends = 'infinity' WHERE id LIKE 'dailya'")
	f.exec("INSERT INTO periodic_task (id, task, timer, nextrun, worker, marked) VALUES ('mark-future', 'backup', 'daily', '2020-01-01', 'joex1', 'infinity')")
	f.exec("INSERT INTO periodic_task (id, task, timer, nextrun, worker, marked) VALUES ('mark-past', 'backup', 'daily', '2020-01-01', 'joex1', '-infinity')")
	f.exec("INSERT INTO periodic_task (id, task, timer, nextrun, worker, marked) VALUES ('mark-none', 'backup', 'daily', '2020-01-01', 'joex1', NULL)")
	f.exec("ALTER TABLE periodic_task ENABLE TRIGGER USER")
	f.exec(insertTask, "good", "hourly")
	f.behind("good", time.Second, time.Hour)

	f.once()
	f.want(4, "SELECT count(*) FROM job") // good, and those that joex1 had marked
	f.want(0, "SELECT count(*) FROM periodic_task WHERE worker IS NOT NULL")
	f.want(0, "SELECT count(*) FROM periodic_task WHERE nextrun < ?", f.at(0))                                            // those of the past are planned
	f.want(3, "SELECT count(*) FROM periodic_task WHERE timer = 'every 15m' AND problem LIKE '%an interval must start%'") // anchor: created
	f.want(9, "SELECT count(*) FROM periodic_task WHERE nextrun BETWEEN ? AND ?", f.at(0), f.at(25*time.Hour))

	h := &hooked{Store: f.db.Periodic()}
	cfg := f.config("loop")
	seen := watch(&cfg)
	stop := f.run(h, func(c *scheduler.Config) { c.Observe = cfg.Observe })
	f.exec("UPDATE periodic_task SET nextrun = now() AT TIME ZONE 'UTC' WHERE id = 'dailyb'")
	seen.until(t, "job", submitted("dailyb"))
	stop()
	if n := h.peeks.Load(); n > 30 {
		t.Errorf("%d looks at the database; it spins", n)
	}
}

// A mark without a time is one that has expired: nobody waits for it for ever.
func TestBadInputMarkWithoutTime(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(insertTask, "report", "yearly")
		f.once() // planned, so that the loop does not mark it meanwhile
		cfg := f.config("loop")
		seen := watch(&cfg)
		f.start(cfg)
		at := f.at(0)
		f.exec("UPDATE periodic_task SET worker = 'somebody', due = ?, nextrun = ?, timer = ?", at, at, "*"+at[4:])
		f.exec(insertTask, "other", "yearly") // wakes the loop: an update of due does not, and it may have looked already
		seen.until(f, "job", submitted("report"))
	})
}

// SQLite takes any value for the time of a mark. Such a mark has expired, and
// hides none that has expired, too.
func TestBadInputMarkOfOddTime(t *testing.T) {
	t.Parallel()
	for _, marked := range []string{"unixepoch()", "''", "julianday('now')", "x'00'", "'soon'", "'9999-12-31 23:59:59'", "-1"} {
		t.Run(marked, func(t *testing.T) {
			f := newFixture(migrated.New(t, storetest.SQLite))
			f.exec(insertTask, "odd", "yearly")
			f.exec(insertTask, "dead", "yearly")
			f.once()
			f.exec("DROP TRIGGER nextrun_task_refuse_marked") // such a row may be older than the trigger
			seen := f.watching()
			past := f.at(-time.Minute)
			f.exec("UPDATE periodic_task SET worker = 'somebody', marked = CASE id WHEN 'odd' THEN "+marked+" ELSE ? END, due = ?, nextrun = ?, timer = ?",
				past, past, past, "*"+past[4:])
			jobs := map[string]bool{}
			seen.until(f, "job of each task", func(e scheduler.Event) bool {
				if e.Kind == scheduler.EventTick {
					jobs[e.Tick.TaskID] = true
				}
				return len(jobs) == 2
			})
		})
	}
}

// A unique index of the user's refuses the job although none is pending: the tick
// is skipped and says so, whatever the policy, and nothing spins.
func TestJobsThatAnIndexRefuses(t *testing.T) {
	t.Parallel()
	for _, overlap := range []string{"queue", "skip", "allow"} {
		t.Run(overlap, func(t *testing.T) {
			both(t, func(f *fixture) {
				f.exec("CREATE UNIQUE INDEX one_report ON job (subject)")
				f.exec("INSERT INTO job (jid, task, subject, state) VALUES ('old', 'backup', 'report', 'success')")
				f.exec("INSERT INTO periodic_task (id, task, timer, overlap, subject) VALUES ('report', 'backup', 'yearly', ?, 'report')", overlap)
				f.due("report", time.Second)
				h := &hooked{Store: f.db.Periodic()}
				cfg := f.config("refused")
				seen := watch(&cfg)
				stop := f.run(h, func(c *scheduler.Config) { c.Observe = cfg.Observe })
				seen.until(f, "decision", kindOf(scheduler.EventTick))
				stop()
				f.want("skipped", "SELECT decision FROM periodic_tick")
				f.want(1, "SELECT count(*) FROM periodic_tick WHERE reason LIKE 'the queue refused the job%'")
				f.want(1, "SELECT count(*) FROM periodic_task WHERE problem LIKE 'the queue refused the job%' AND nextrun > ?", f.at(0))
				if n := h.updates.Load(); n > 10 {
					f.Errorf("%d transactions", n)
				}
			})
		})
	}
}
