package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// The page of a task says how it does, what went wrong, and offers what fits its state.
func TestTaskSaysHowItDoes(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, group_, nextrun) VALUES ('report', 'work', '*-*-* 02:30 Europe/Berlin', 'office', '2099-01-01 00:00:00')`)
		now := time.Now().UTC().Truncate(time.Second)
		for i := range 30 {
			s.ran("report", now.Add(-time.Duration(i+2)*time.Hour), 10*time.Second, "success")
		}
		s.ran("report", now.Add(-time.Hour), 40*time.Second, "failed")
		s.Exec(`UPDATE job SET result = 'exit status 3', retries = 2 WHERE state = 'failed'`)
		s.Exec(`INSERT INTO joblog (id, jid, level, created, message, counter) SELECT 'line', jid, 'error', submitted, 'FATAL: no route', 1 FROM job WHERE state = 'failed'`)
		s.shows("/task?id=report", "report: failed · nextrun", "usually takes 10 s", "exit status 3. FATAL: no route", "Retry the job that failed", "4.0 × the usual", "3 attempts",
			`<a href="/tasks?group=office">office</a>`, `value="pause"`, `!value="resume"`)
		s.Exec(`UPDATE periodic_task SET paused = '2026-01-01 00:00:00' WHERE id = 'report'`)
		s.shows("/task?id=report", `!value="pause"`, `value="resume"`)
	})
}

// What a task loses because its jobs take too long stands on its page and in the list. Other ticks that did not run do not count.
func TestLossesByOverlap(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.task("report")
		s.task("fine")
		now := time.Now().UTC().Truncate(time.Second)
		for n, cause := range []string{"overlap", "waited", "superseded", "paused", "calendar"} {
			due := sqldb.Timestamp(now.Add(-time.Duration(n+1) * time.Hour))
			s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, cause, decided) VALUES ('report', ?, 'skipped', ?, ?)`, due, cause, due)
		}
		long := sqldb.Timestamp(now.AddDate(0, 0, -31))
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, cause, decided) VALUES ('report', ?, 'skipped', 'overlap', ?)`, long, long)
		s.ran("fine", now.Add(-time.Hour), time.Second, "success")
		s.shows("/task?id=report", `<a class="link" href="/runs?state=not-run&amp;task=report">3 ticks skipped by overlap in 30 days</a>`)
		s.shows("/task?id=fine", "!by overlap")
		if list := s.shows("/tasks", "3 ticks skipped by overlap in 30 days"); strings.Count(list, "by overlap") != 1 {
			s.Errorf("the list says it more than once")
		}
		s.shows("/tasks?q=state:losing", ">report<", "!>fine<", `aria-current="true">Losing runs`)
	})
}

// Runs in a row that ended with the same error are one row of the history, which unfolds. Others are not.
func TestHistoryFoldsWhatEndedAlike(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.task("report")
		now := time.Now().UTC().Truncate(time.Hour)
		due := func(i int) time.Time { return now.Add(-time.Duration(i) * time.Hour) }
		for i := 1; i <= 60; i++ {
			state := "failed"
			if i > 41 {
				state = "success"
			}
			s.ran("report", due(i), time.Minute, state)
		}
		s.Exec(`UPDATE job SET result = CASE WHEN due >= ? THEN 'no route' WHEN due >= ? THEN 'disk is full' ELSE 'timeout' END WHERE state = 'failed'`, sqldb.Timestamp(due(2)), sqldb.Timestamp(due(39)))
		page := s.shows("/task?id=report&zone=UTC", "36 × failed, since ")
		for text, times := range map[string]int{`title="no route">`: 2, `title="disk is full">`: 1, `title="timeout">`: 2} {
			if n := strings.Count(page, text); n != times {
				s.Errorf("the page has %q %d times, want %d", text, n, times)
			}
		}
		var d struct {
			Ticks []struct{ Due time.Time }
			Older time.Time
		}
		s.data("/task?id=report&format=json", &d)
		if len(d.Ticks) != 50 || !d.Older.Equal(due(50)) {
			s.Errorf("the page has %d ticks, the older ones before %s", len(d.Ticks), d.Older)
		}
		s.data("/task?id=report&format=json&until="+d.Older.Format(time.RFC3339), &d)
		if len(d.Ticks) != 10 || !d.Ticks[0].Due.Equal(due(51)) {
			s.Errorf("the next page has %d ticks", len(d.Ticks))
		}
	})
}

// A chart that would say nothing is a sentence. One far value does not hide the others.
func TestChartsOfATask(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		now := time.Now().UTC().Truncate(time.Hour)
		const second = time.Second
		for id, took := range map[string][]time.Duration{
			"none": {}, "one": {time.Minute}, "same": {time.Minute, time.Minute, time.Minute}, "quick": {time.Millisecond, 2 * time.Millisecond},
			"far": {2 * time.Hour, 7 * second, 8 * second, 9 * second, 7 * second, 7 * second, 7 * second, 7 * second, 7 * second, 7 * second, 7 * second, 7 * second, 7 * second},
		} {
			s.task(id)
			for i, d := range took {
				s.ran(id, now.Add(-time.Duration(i+1)*time.Hour), d, "success")
			}
		}
		s.Exec(`UPDATE job SET state = 'failed' WHERE tracker = 'far' AND jid IN (SELECT max(jid) FROM job WHERE tracker = 'far')`)
		for id, want := range map[string][]string{
			"none":  {"No run yet.", `!<div class="bars">`},
			"one":   {"The only one took 1 min.", `!<div class="bars">`},
			"same":  {"All of the last 3 took 1 min."},
			"quick": {"<span>10 ms</span>", `<div class="bars">`},
			"far":   {"<span>20 s</span>", `class="cut"`, "The axis is too short for some bars, such as that of ", ": failed, 2 h."},
		} {
			s.shows("/task?id="+id, want...)
		}
		// A job that was tried again, or whose executor stopped, did not begin late.
		s.Exec(`UPDATE job SET retries = 1, started = ? WHERE tracker = 'one'`, sqldb.Timestamp(now.Add(-10*time.Minute)))
		s.shows("/task?id=one", "2 attempts", "!min late")
		s.Exec(`UPDATE job SET retries = 0, interrupts = 1 WHERE tracker = 'one'`)
		s.shows("/task?id=one", "interrupted once", "!attempts", "!min late")
	})
}
