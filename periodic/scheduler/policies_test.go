package scheduler_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// midnight is when the clock of a bubble starts.
var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// sleepUntil sleeps until a time of the bubble's clock.
func sleepUntil(at time.Time) { pass(time.Until(at)); synctest.Wait() }

// story runs a task through a simulated outage: a scheduler works until the
// outage begins and again from its end on, for two seconds. It returns what
// periodic_tick then says, a line for each tick, times as hh:mm.
func story(t *testing.T, columns string, from, to time.Duration) (ticks string, jobs string) {
	t.Helper()
	bubble(t, func(f *fixture) {
		names, values, _ := strings.Cut(columns, " = ")
		f.exec("INSERT INTO periodic_task (id, task, timer, " + names + ") VALUES ('report', 'backup', 'hourly', " + values + ")")
		s, _ := f.start(unwatched{f.db.Periodic()})
		sleepUntil(midnight.Add(from))
		f.stop(s)
		sleepUntil(midnight.Add(to))
		s, _ = f.start(unwatched{f.db.Periodic()})
		pass(2 * time.Second)
		f.stop(s)
		ticks = f.one(`SELECT group_concat(line, ', ') FROM (SELECT substr(due, 12, 5) || ' ' || decision ||
			CASE WHEN decision = 'missed' THEN ' ' || missed || ' to ' || substr(until, 12, 5) ELSE '' END AS line FROM periodic_tick ORDER BY due)`)
		jobs = f.one("SELECT group_concat(line, ', ') FROM (SELECT substr(due, 12, 5) AS line FROM job ORDER BY due)")
		f.guarantees()
		f.want("1", "SELECT count(*) FROM periodic_task WHERE due > ? OR due LIKE '9999%' OR overlap = 'queue'", f.at(0)) // it goes on, or waits
	})
	return ticks, jobs
}

// An outage from 01:30 to 05:10 of an hourly task, by policy.
func TestPoliciesAfterAnOutage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		columns     string
		ticks, jobs string
	}{
		"one": {"overlap, catchup = 'allow', 'one'",
			"01:00 submitted, 02:00 missed 3 to 04:00, 05:00 submitted", "01:00, 05:00"},
		"one, the first job still waits": {"overlap, catchup = 'skip', 'one'",
			"01:00 submitted, 02:00 missed 3 to 04:00, 05:00 skipped", "01:00"},
		"all": {"overlap, catchup = 'allow', 'all'",
			"01:00 submitted, 02:00 submitted, 03:00 submitted, 04:00 submitted, 05:00 submitted", "01:00, 02:00, 03:00, 04:00, 05:00"},
		"all, in a queue": {"overlap, catchup = 'queue', 'all'",
			"01:00 submitted", "01:00"},
		"all, replaced": {"overlap, catchup = 'replace', 'all'",
			"01:00 submitted, 02:00 skipped, 03:00 skipped, 04:00 skipped, 05:00 submitted", "01:00, 05:00"},
		"one, in a queue": {"overlap, catchup = 'queue', 'one'",
			"01:00 submitted", "01:00"},
		"none, beyond the grace": {"overlap, catchup, grace = 'allow', 'none', 599",
			"01:00 submitted, 02:00 missed 4 to 05:00", "01:00"},
		"none, within the grace": {"overlap, catchup, grace = 'allow', 'none', 601",
			"01:00 submitted, 02:00 missed 3 to 04:00, 05:00 submitted", "01:00, 05:00"},
		"deadline": {"overlap, catchup, deadline = 'allow', 'all', 7799", // a second less than the age of the tick of 03:00
			"01:00 submitted, 02:00 late, 03:00 late, 04:00 submitted, 05:00 submitted", "01:00, 04:00, 05:00"},
		"deadline of the newest": {"overlap, deadline = 'allow', 300",
			"01:00 submitted, 02:00 missed 3 to 04:00, 05:00 late", "01:00"},
		"ends in the outage": {"overlap, ends = 'allow', '2000-01-01 04:00'",
			"01:00 submitted, 02:00 missed 1 to 02:00, 03:00 submitted", "01:00, 03:00"},
		"starts in the outage": {"overlap, starts = 'allow', '2000-01-01 04:00'",
			"04:00 missed 1 to 04:00, 05:00 submitted", "05:00"},
		"all, but only the newest two": {"overlap, catchup, catchup_limit = 'allow', 'all', 2",
			"01:00 submitted, 02:00 missed 2 to 03:00, 04:00 submitted, 05:00 submitted", "01:00, 04:00, 05:00"},
		"starts and ends, all": {"overlap, catchup, starts, ends = 'allow', 'all', '2000-01-01 03:00', '2000-01-01 05:00'",
			"03:00 submitted, 04:00 submitted", "03:00, 04:00"},
	} {
		t.Run(name, func(t *testing.T) {
			ticks, jobs := story(t, test.columns, 90*time.Minute, 5*time.Hour+10*time.Minute)
			if test.ticks != ticks || test.jobs != jobs {
				t.Errorf("\n got  %s; jobs %s\n want %s; jobs %s", ticks, jobs, test.ticks, test.jobs)
			}
		})
	}
}
