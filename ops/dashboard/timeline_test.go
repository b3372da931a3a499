package dashboard_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard"
)

type timelineData struct {
	Grouped bool      `json:"by_group"`
	Known   time.Time `json:"runs_known_since"`
	Until   time.Time `json:"runs_planned_until"`
	From    time.Time
	Rows    []struct {
		Name    string
		Runs    int
		Failed  int
		Planned int
		Skipped int    `json:"planned_but_skipped"`
		Usual   string `json:"usually_takes"`
		Out     int    `json:"did_not_run"`
		Cells   []struct {
			Load   float64
			Failed float64
			State  string
			Out    string `json:"did_not_run"`
		}
	}
	All    struct{ Cells []struct{ Load float64 } } `json:"at_once"`
	Most   int                                      `json:"most_at_once"`
	Others int                                      `json:"rows_not_listed"`
}

// A few tasks have a row each: the past as it was, the future as long as runs usually take.
func TestTimelineOfAFewTasks(t *testing.T) {
	both(t, dashboard.Options{Prefix: "/p"}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', '*-*-* 00/6:00', '2026-01-01 00:00:00')`)
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('beat', 'other', '*:*:0/10', '2026-01-01 00:00:00')`)
		now := time.Now()
		for i, took := range []time.Duration{time.Second, 25 * time.Minute, time.Hour, 25 * time.Minute} {
			s.ran("report", now.Add(time.Duration(i-5)*time.Hour), took, []string{"success", "failed", "success", "success"}[i])
		}
		var d timelineData
		s.data("/timeline?format=json", &d)
		if d.Grouped || !d.Known.IsZero() || !d.Until.IsZero() || len(d.Rows) < 2 || d.Rows[0].Name != "report" || d.Rows[0].Runs != 4 || d.Rows[0].Failed != 1 || d.Rows[0].Usual != "25 min" || d.Rows[0].Planned < 2 {
			s.Fatalf("%+v", d)
		}
		load, failed, planned := 0.0, 0.0, 0.0
		for _, c := range d.Rows[0].Cells {
			if failed += c.Failed; c.State == "plan" {
				planned += c.Load
			} else {
				load += c.Load
			}
		}
		// A cell is a quarter of an hour.
		if want := (110*60 + 1) / 900.0; math.Abs(load-want) > .01 || math.Abs(failed-25/15.0) > .01 || math.Abs(planned-float64(d.Rows[0].Planned-d.Rows[0].Skipped)*25/15.0) > 2 {
			s.Errorf("load %.4f, want %.4f; failed %.4f, planned %.4f of %d, %d skipped", load, want, failed, planned, d.Rows[0].Planned, d.Rows[0].Skipped)
		}
		for _, row := range d.Rows {
			if row.Name == "beat" && (row.Planned < 3200 || row.Planned > 4700) {
				s.Errorf("a very frequent timer has %d ticks to come in 9 to 12 hours", row.Planned)
			}
		}
		s.shows("/timeline?zone=Asia/Tokyo", `href="/p/task?id=report">report<`, `aria-label="report: 4 ran, 1 failed, 0 did not run, `, "← earlier", "!too many runs")
		s.shows("/timeline?at=2020-01-01T00:00:00Z", "Nothing ran and nothing is planned")
	})
}

// Many tasks are drawn by group. Of many runs the newest are read; the page says which are left out, and stays small.
func TestTimelineOfManyTasks(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		now := time.Now()
		at := func(d time.Duration) string { return now.Add(d).UTC().Format("2006-01-02 15:04:05.000000") }
		for i := range 60 {
			s.Exec(`INSERT INTO periodic_task (id, task, group_, timer) VALUES (?, 'work', ?, 'hourly')`, fmt.Sprintf("t%02d", i), fmt.Sprintf("g%d", i%3))
		}
		// In each minute of the last 90 a run of each task of g0 ends that took a second, and one of each of g1 that took a minute.
		s.Exec(`CREATE TABLE past (n integer, at timestamp, before timestamp)`)
		for i := range 90 { // minutes
			s.Exec(`INSERT INTO past VALUES (?, ?, ?)`, i, at(-time.Duration(i+1)*time.Minute), at(-time.Duration(i+2)*time.Minute))
		}
		for _, g := range []string{"g0", "g1"} {
			began := map[string]string{"g0": "at", "g1": "before"}[g]
			s.Exec(`INSERT INTO job (jid, task, group_, tracker, state, submitted, started, finished)
				SELECT id || '-' || n, 'work', group_, id, 'success', at, ` + began + `, at FROM past CROSS JOIN periodic_task WHERE group_ = '` + g + `'`)
		}
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, jid, decided) SELECT tracker, submitted, 'submitted', jid, submitted FROM job`)
		var d timelineData
		s.data("/timeline?format=json", &d)
		if !d.Grouped || d.Known.IsZero() || len(d.Rows) != 3 {
			s.Fatalf("%.2000s", fmt.Sprintf("%+v", d))
		}
		for _, row := range d.Rows {
			if want := map[string]int{"g0": 1000, "g1": 1000}[row.Name]; row.Runs < want-30 || row.Runs > want+30 {
				s.Errorf("%s has %d runs, want about %d", row.Name, row.Runs, want)
			}
		}
		if known := now.Sub(d.Known); known < 40*time.Minute || known > time.Hour {
			s.Errorf("runs are known since %s ago", known)
		}
		if page := s.shows("/timeline", "those that were due before ", "group=g0"); len(page) > 150_000 {
			s.Errorf("%d bytes:\n%.3000s", len(page), page)
		}
		d = timelineData{}
		if s.data("/timeline?format=json&group=g1", &d); d.Grouped || !d.Known.IsZero() || len(d.Rows) != 20 || d.Rows[0].Name != "t01" || d.Rows[0].Runs != 90 {
			s.Errorf("a group has %d rows, the first is %s with %d runs, known since %s", len(d.Rows), d.Rows[0].Name, d.Rows[0].Runs, d.Known)
		}
		s.Exec(`UPDATE periodic_task SET timer = '*:*:*', nextrun = '1970-01-01 00:00:00', due = NULL WHERE group_ = 'g2'`)
		if s.data("/timeline?format=json", &d); d.Until.Before(now.Add(5*time.Minute)) || d.Until.After(now.Add(15*time.Minute)) {
			s.Errorf("of twenty tasks that are due each second, the plan ends at %s", d.Until)
		}
		s.shows("/timeline", "the plan ends at ")
	})
}
