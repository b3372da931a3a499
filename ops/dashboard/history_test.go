package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// Ticks in a row that ended with the same error are one row of the history, which unfolds. Others are not.
func TestHistoryFoldsWhatEndedAlike(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', 'hourly', '2099-01-01 00:00:00')`)
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
		page := s.get("/task?id=report&zone=UTC")
		for text, times := range map[string]int{"<td>no route</td>": 2, "<td>disk is full<details><summary>the same 37 times in a row, since ": 1, "<td>timeout</td>": 2, "<td>disk is full": 1} {
			if n := strings.Count(page, text); n != times {
				s.Errorf("the page has %q %d times, want %d", text, n, times)
			}
		}
		if n := strings.Count(page, `<li><a href="/tick?`); n != 36 {
			s.Errorf("the row unfolds to %d others, want 36", n)
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
		for id, took := range map[string][]time.Duration{
			"none": {}, "one": {time.Minute}, "same": {time.Minute, time.Minute, time.Minute}, "quick": {time.Millisecond, 2 * time.Millisecond},
			"far": {2 * time.Hour, 7 * time.Second, 8 * time.Second, 9 * time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second, 7 * time.Second},
		} {
			s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES (?, 'work', 'hourly', '2099-01-01 00:00:00')`, id)
			for i, d := range took {
				s.ran(id, now.Add(-time.Duration(i+1)*time.Hour), d, "success")
			}
		}
		s.Exec(`UPDATE job SET state = 'failed' WHERE tracker = 'far' AND jid IN (SELECT max(jid) FROM job WHERE tracker = 'far')`)
		for id, want := range map[string][]string{
			"none":  {},
			"one":   {"The only run took 1 min."},
			"same":  {"All of the last 3 runs took 1 min."},
			"quick": {"<span>10 ms</span>"},
			"far":   {"<span>20 s</span>", `class="cut"`, "The axis is too short for some bars, such as that of ", ": failed, 2 h.", "A bar with a foot below the axis is a run that failed."},
		} {
			page := s.get("/task?id=" + id)
			for _, text := range want {
				if !strings.Contains(page, text) {
					s.Errorf("the page of %s lacks %q", id, text)
				}
			}
			charts := map[string]int{"quick": 1, "far": 1}[id]
			if n := strings.Count(page, `<div class="bars">`); n != charts || strings.Contains(page, "How long the runs took</h2>") != (id != "none") {
				s.Errorf("the page of %s has %d charts, want %d", id, n, charts)
			}
		}
		// A job that was tried again did not begin late.
		s.Exec(`UPDATE job SET retries = 1, started = ? WHERE tracker = 'one'`, sqldb.Timestamp(now.Add(-10*time.Minute)))
		if page := s.get("/task?id=one"); !strings.Contains(page, "2 attempts</span>") || strings.Contains(page, "min late") {
			s.Error("the page takes the last attempt for a late beginning")
		}
		// A job whose executor stopped began anew, but no attempt failed.
		s.Exec(`UPDATE job SET retries = 0, interrupts = 1 WHERE tracker = 'one'`)
		if page := s.get("/task?id=one"); !strings.Contains(page, ">interrupted once</span>") || strings.Contains(page, "attempts</span>") || strings.Contains(page, "min late") {
			s.Error("the page takes an interruption for a failed attempt")
		}
	})
}
