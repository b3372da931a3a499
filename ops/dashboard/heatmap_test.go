package dashboard_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard"
)

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
		for _, want := range []string{"of the 10 places", "60 ticks in one minute", "<b>Busiest, with 50 % of the 10 places of the executors: 05:00 every day.", "t00</a>, <a", " and 56 more with <a", "UPDATE periodic_task SET spread = 1800 WHERE timer = &#39;*-*-* 05:00&#39;", "Wednesday 05:00", "and 20 more tasks", `class="h4"`, "up to 37 %", "50 % of the 10 places will be taken: there is room"} {
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

// The heat map knows tasks that run seldom, and tells the weekdays of a peak apart.
func TestHeatMapOfAWeek(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO worker_service (worker, kind, version, started, seen, places, handlers) VALUES ('e@1', 'executor', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00', 10, '[]')`)
		s.Exec(`INSERT INTO periodic_task (id, task, timer, sink) VALUES ('weekly', 'big', 'Sun 12:00', 'job'), ('often', 'x', 'hourly', 'event'), ('slow', 'slow', 'hourly', 'job'), ('report', 'x', '*-*-* 12:00', 'event')`)
		for i := range 3 {
			s.ran("weekly", time.Now().AddDate(0, 0, -7*(i+1)), 2*time.Hour, "success")
			s.ran("slow", time.Now().Add(-2*time.Hour*time.Duration(i+1)), 75*time.Minute, "success")
		}
		var d struct {
			Hour, Busiest string
			Days          [7]struct{ Hours [24]struct{ Load float64 } }
			Peaks         []struct {
				Ticks, Times int
				Causes       []struct{ ID string }
			}
			Cell []struct {
				ID, Times, Takes string
				Share            float64
			} `json:"in_hour"`
		}
		s.data("/heatmap?format=json&day=6&hour=13", &d)
		sunday := d.Days[6].Hours
		if more := sunday[13].Load - d.Days[2].Hours[13].Load; math.Abs(more-.1) > .06 || d.Hour != "Sunday 13:00" || d.Busiest == "" {
			s.Errorf("a task of two hours on Sundays adds %.2f in %s", more, d.Hour)
		}
		if slow := d.Days[2].Hours[8].Load + d.Days[2].Hours[9].Load; math.Abs(slow-.125) > .01 { // every second of its ticks is skipped
			s.Errorf("a task of 75 minutes that is due each hour fills %.3f of two hours", slow)
		}
		if c := d.Cell[0]; c.Share < .099 || !slices.ContainsFunc(d.Cell, func(c struct {
			ID, Times, Takes string
			Share            float64
		}) bool {
			return c.ID == "weekly" && c.Times == "running since 12:00" && c.Takes == "2 h"
		}) {
			s.Errorf("the list of Sunday 13:00 is %+v", d.Cell)
		}
		if p := d.Peaks[0]; p.Ticks != 4 || p.Times != 1 || len(p.Causes) != 3 || d.Peaks[1].Ticks != 3 || d.Peaks[1].Times != 6 {
			s.Errorf("the peaks are %+v", d.Peaks)
		}
		// A task that has only failed takes as long as it took to fail; another one is a guess.
		s.Exec(`INSERT INTO periodic_task (id, task, timer, sink) VALUES ('broken', 'broken', 'Sun 13:10', 'job'), ('new', 'new', 'Sun 13:20', 'job')`)
		s.ran("broken", time.Now().Add(-time.Hour), 20*time.Second, "failed")
		if page := s.get("/heatmap?day=6&hour=13"); !strings.Contains(page, `>13:10</td><td class="number">20 s</td>`) || strings.Count(page, "a guess: neither the task nor its handler has run lately") != 1 {
			s.Errorf("how long failed runs took:\n%s", page)
		}
		s.Exec(`UPDATE worker_service SET places = 1`)
		s.Exec(`UPDATE periodic_task SET timer = 'Sun 12:30' WHERE id = 'slow'`)
		if page := s.get("/heatmap?day=6&hour=12"); !strings.Contains(page, "of the 1 places will be taken. Moving weekly to ") {
			s.Error("the page does not say which task to move")
		}
	})
}
