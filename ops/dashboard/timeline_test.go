package dashboard_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard"
)

type timelineData struct {
	Grouped bool    `json:"by_group"`
	OneIn   float64 `json:"read_one_in"`
	From    time.Time
	Rows    []struct {
		Name    string
		Runs    float64
		Failed  float64
		Planned float64
		Usual   string `json:"usually_takes"`
		Cells   []struct {
			Load   float64
			Failed float64
			State  string
		}
	}
	All    struct{ Cells []struct{ Load float64 } } `json:"at_once"`
	Others int                                      `json:"rows_not_listed"`
}

// A few tasks have a row each: the past as it was, the future as long as runs usually take.
func TestTimelineOfAFewTasks(t *testing.T) {
	both(t, dashboard.Options{Prefix: "/p"}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', '*-*-* 00/6:00', '2026-01-01 00:00:00')`)
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('beat', 'other', '*:*:0/10', '2026-01-01 00:00:00')`)
		now := time.Now()
		for i, took := range []time.Duration{time.Second, 25 * time.Minute, time.Hour} {
			s.ran("report", now.Add(time.Duration(i-5)*time.Hour), took, []string{"success", "failed", "success"}[i])
		}
		var d timelineData
		s.data("/timeline?format=json", &d)
		if d.Grouped || d.OneIn != 1 || len(d.Rows) < 2 || d.Rows[0].Name != "report" || d.Rows[0].Runs != 3 || d.Rows[0].Failed != 1 || d.Rows[0].Usual != "25 min" || d.Rows[0].Planned < 2 {
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
		if want := (85*60 + 1) / 900.0; math.Abs(load-want) > .01 || math.Abs(failed-25/15.0) > .01 || math.Abs(planned-d.Rows[0].Planned*25/15.0) > 2 {
			s.Errorf("load %.2f, want %.2f; failed %.2f, planned %.2f", load, want, failed, planned)
		}
		for _, row := range d.Rows {
			if row.Name == "beat" && (row.Planned < 3500 || row.Planned > 5000) {
				s.Errorf("a very frequent timer has %.0f ticks to come in about 12 hours", row.Planned)
			}
		}
		page := s.get("/timeline?zone=Asia/Tokyo")
		for _, want := range []string{`<a href="/p/task?id=report">report</a>`, `aria-label="report: 3 runs, 1 failed, `, `show=6&#43;hours`, "← earlier"} {
			if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#43;", "+")) {
				s.Errorf("lacks %q:\n%s", want, page)
			}
		}
		if strings.Contains(page, "too many runs") {
			s.Error("nothing is left out, but the page says so")
		}
		for path, want := range map[string]string{"/timeline?at=teatime": "unknown time", "/timeline?at=2020-01-01T00:00:00Z": "Nothing ran and nothing is planned"} {
			if _, _, body := s.ask(s.request("GET", path, nil)); !strings.Contains(body, want) {
				s.Errorf("%s lacks %q", path, want)
			}
		}
		if page := s.get("/timeline?at=2026-03-29T01:00:00Z&zone=Europe/Berlin&show=24+hours"); strings.Contains(page, "<table") && !strings.Contains(page, "The clock of Europe/Berlin changes at 2026-03-29 03:00:00 CEST.") {
			s.Error("does not say that the clock changes")
		}
	})
}

// Many tasks are drawn by group. Of many runs a part is read, and stands for all of them, whether
// they take long or not; the page says so, and stays small.
func TestTimelineOfManyTasks(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		now := time.Now()
		at := func(d time.Duration) string { return now.Add(d).UTC().Format("2006-01-02 15:04:05.000000") }
		for i := range 60 {
			s.Exec(`INSERT INTO periodic_task (id, task, group_, timer) VALUES (?, 'work', ?, 'hourly')`, fmt.Sprintf("t%02d", i), fmt.Sprintf("g%d", i%3))
		}
		// In each second of the last 5 hours a job of g0 ends that took a second, and one of g1 that took a minute.
		s.Exec(`CREATE TABLE past (n integer, at timestamp, before timestamp)`)
		for i := range 300 { // minutes
			s.Exec(`INSERT INTO past VALUES (?, ?, ?)`, i, at(-time.Duration(i+1)*time.Minute), at(-time.Duration(i+2)*time.Minute))
		}
		numbers := `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) `
		for _, g := range []string{"g0", "g1"} {
			began := map[string]string{"g0": "at", "g1": "before"}[g]
			s.Exec(`INSERT INTO job (jid, task, group_, tracker, state, submitted, started, finished) ` + numbers +
				`SELECT '` + g + `-' || n || '-' || i, 'work', '` + g + `', 't0` + g[1:] + `', 'success', at, ` + began + `, at FROM past CROSS JOIN n`)
		}
		var d timelineData
		s.data("/timeline?format=json&show=24+hours", &d)
		if !d.Grouped || d.OneIn < 5 || len(d.Rows) != 4 { // with the group of nextrun's own task, which may have run
			s.Fatalf("%.2000s", fmt.Sprintf("%+v", d))
		}
		for _, row := range d.Rows {
			if want := map[string]float64{"g0": 9000, "g1": 9000}[row.Name]; math.Abs(row.Runs-want) > want/2 {
				s.Errorf("%s has %.0f runs, want about %.0f", row.Name, row.Runs, want)
			}
		}
		page := s.get("/timeline?show=24+hours")
		if len(page) > 150_000 || !strings.Contains(page, "estimated from one in 6") || !strings.Contains(page, "group=g0") {
			s.Errorf("%d bytes:\n%.3000s", len(page), page)
		}
		d = timelineData{}
		s.data("/timeline?format=json", &d) // by itself, it shows so little that nothing is missing
		if d.OneIn > 2 {
			s.Errorf("at first sight, one in %.1f is read", d.OneIn)
		}
		d = timelineData{}
		s.data("/timeline?format=json&group=g1&show=6+hours", &d)
		if want := 30 * now.Sub(d.From).Minutes(); d.Grouped || len(d.Rows) != 20 || d.Rows[0].Name != "t01" || math.Abs(d.Rows[0].Runs-want) > 60 {
			s.Errorf("a group has %d rows, the first is %s with %.0f runs instead of %.0f", len(d.Rows), d.Rows[0].Name, d.Rows[0].Runs, want)
		}
	})
}

// The heat map compares the work of each hour with the places of the executors, and says what
// makes a peak and how to flatten it.
func TestHeatMap(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		for i := range 60 {
			s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES (?, 'work', '*-*-* 05:00')`, fmt.Sprintf("t%02d", i))
		}
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('other', 'idle', '*-*-* 07:30')`)
		s.ran("t00", time.Now().Add(-2*time.Hour), 5*time.Minute, "success")
		type data struct {
			Places int
			Days   [7]struct {
				Hours [24]struct{ Ticks, Load float64 }
			}
			Peaks []struct {
				Ticks  int
				Times  int
				Causes []struct {
					Timer string
					Tasks int
				}
				Spread int `json:"spread_seconds"`
				After  int `json:"ticks_after"`
			}
		}
		var d data
		s.data("/heatmap?format=json", &d)
		if h := d.Days[2].Hours[5]; d.Places != 0 || h.Ticks != 60 || h.Load != 1 || d.Days[2].Hours[7].Load == 0 || d.Days[2].Hours[6].Ticks != 0 {
			s.Errorf("without executors: %+v", d.Days[2])
		}
		if page := s.get("/heatmap"); !strings.Contains(page, "No executor is known to run") || strings.Contains(page, "To flatten it") {
			s.Error("the page does not say that no executor runs")
		}
		s.Exec(`INSERT INTO worker_service (worker, kind, version, started, seen, places, handlers) VALUES ('e@1', 'executor', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00', 10, '[]')`)
		d = data{}
		s.data("/heatmap?format=json", &d)
		// 60 jobs of 5 minutes fill 10 places for half an hour.
		if h := d.Days[2].Hours[5]; d.Places != 10 || math.Abs(h.Load-.5) > .01 {
			s.Errorf("with 10 places: %+v", h)
		}
		if len(d.Peaks) == 0 || d.Peaks[0].Ticks != 60 || d.Peaks[0].Times != 7 || d.Peaks[0].Causes[0].Timer != "*-*-* 05:00" || d.Peaks[0].Causes[0].Tasks != 60 || d.Peaks[0].Spread != 1800 || d.Peaks[0].After != 2 {
			s.Errorf("the peaks are %+v", d.Peaks)
		}
		page := s.get("/heatmap?day=2&hour=5")
		for _, want := range []string{"of the 10 places", "60 ticks in one minute", "and 6 times more", "UPDATE periodic_task SET spread = 1800 WHERE timer = &#39;*-*-* 05:00&#39;", "Wednesday, 05:00", "and 20 more tasks", `class="h3"`} {
			if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#39;", "'")) {
				s.Errorf("lacks %q:\n%s", want, page)
			}
		}
		// A run of three hours fills a place in each of them, and what is due each minute makes no peak.
		s.Exec(`INSERT INTO periodic_task (id, task, timer, sink) VALUES ('long', 'long', '*-*-* 20:30', 'job'), ('often', 'idle', 'minutely', 'event')`)
		s.ran("long", time.Now().Add(-5*time.Hour), 3*time.Hour, "success")
		d = data{}
		s.data("/heatmap?format=json", &d)
		for hour, want := range map[int]float64{19: 0, 20: .05, 21: .1, 22: .1, 23: .05} {
			if h := d.Days[6].Hours[hour]; math.Abs(h.Load-want) > .01 {
				s.Errorf("hour %d: %+v, want %.2f", hour, h, want)
			}
		}
		for _, p := range d.Peaks[1:] {
			if p.Ticks != 2 || p.Spread != 0 {
				s.Errorf("with a task of each minute, a peak is %+v", p)
			}
		}
	})
}
