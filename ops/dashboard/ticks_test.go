package dashboard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
)

type tickData struct {
	Counts map[string]int
	Ticks  []struct {
		Task, State, Reason string
		Times               int
		Hand                string `json:"by_hand"`
	}
	More bool
}

func (d *tickData) list() (list []string) {
	for _, k := range d.Ticks {
		list = append(list, k.Task+" "+k.State)
	}
	return list
}

// hours adds ticks of each hour, the newest first: success, missed, and skipped since a job ran.
func (s *site) hours(id, newest string, now time.Time) {
	s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES (?, 'work', 'hourly', '2099-01-01 00:00:00')`, id)
	for i, what := range newest {
		due := now.Truncate(time.Hour).Add(-time.Duration(i+1) * time.Hour)
		if what == '.' {
			s.ran(id, due, time.Second, "success")
			continue
		}
		decision := map[rune][]string{'m': {"missed", "newest"}, 's': {"skipped", "overlap"}}[what]
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, cause) VALUES (?, ?, ?, ?, ?)`, id, sqldb.Timestamp(due), decision[0], sqldb.Timestamp(due), decision[1])
	}
}

// Which runs were left out last night is one page, of all tasks, by what was decided, group and time. Now leads to it.
func TestTicksThatDidNotRun(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		now := time.Now().UTC()
		s.hours("pay", ".m..s", now)
		s.hours("mail", "..s...", now)
		s.Exec(`UPDATE periodic_task SET group_ = 'night' WHERE id = 'mail'`)
		ago := func(hours int) sqldb.Timestamp { return sqldb.Timestamp(now.Add(-time.Duration(hours) * time.Hour)) }
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, missed, until, cause) VALUES ('pay', ?, 'missed', ?, 11, ?, 'newest')`, ago(30), ago(20), ago(20))
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, reason) VALUES ('mail', ?, 'skipped', ?, 'long ago')`, ago(60), ago(60))
		for path, want := range map[string]string{
			"":                                   "[pay missed mail skipped pay skipped pay missed]",
			"&decision=skipped":                  "[mail skipped pay skipped]",
			"&group=night":                       "[mail skipped]",
			"&task=pay&decision=missed":          "[pay missed]", // one row of a task is of the time in which it begins
			"&last=7+days&decision=skipped":      "[mail skipped pay skipped mail skipped]",
			"&last=7+days&group=x":               "[]",
			"&decision=&last=24+hours&task=mail": "[mail success mail success mail skipped mail success mail success mail success]",
		} {
			var d tickData
			if s.data("/ticks?format=json"+path, &d); fmt.Sprint(d.list()) != want {
				s.Errorf("%q: %s, want %s", path, d.list(), want)
			}
		}
		var d tickData
		s.data("/ticks?format=json", &d)
		if d.Counts["missed"] != 12 || d.Counts["skipped"] != 2 || d.Ticks[3].Times != 11 {
			s.Errorf("%+v", d)
		}
		page := s.get("/ticks")
		for _, want := range []string{"<h1>14 ticks did not run</h1>", "11 ticks", "not decided in time", `aria-current="true">did not run 14</a>`} {
			if !strings.Contains(page, want) {
				s.Errorf("the page lacks %q", want)
			}
		}
		for path, wants := range map[string][]string{
			"/ticks?decision=missed&last=7+days": {"<h1>12 ticks missed</h1>", " --decision &#39;missed&#39;</code>"},
			"/ticks?last=yesterday":              {"Due from " + now.AddDate(0, 0, -1).Format("Mon 2 Jan 2006, 00:00") + " to " + now.Format("Mon 2 Jan 2006, 00:00")},
			"/ticks?group=it's&from=2026-01-01T00:00&to=2026-01-02T00:00": {"Due from Thu 1 Jan 2026, 00:00 to Fri 2 Jan 2026, 00:00",
				`tick list --since 2026-01-01T00:00:00Z --until 2026-01-02T00:00:00Z --decision &#39;not-run&#39; --group &#39;it&#39;\&#39;&#39;s&#39;</code>`},
		} {
			page := s.get(path)
			for _, want := range wants {
				if !strings.Contains(page, want) {
					s.Errorf("%s lacks %q", path, want)
				}
			}
		}
		if page := s.get("/"); !strings.Contains(page, `<a href="/ticks">14 ticks did not run: 2 skipped, 12 missed</a>`) {
			s.Error("Now does not lead to the ticks that did not run")
		}
		if code, _, body := s.ask(s.request("GET", "/ticks?decision=lost", nil)); code != 400 || !strings.Contains(body, "use one of not-run") {
			s.Errorf("an unknown decision: %d", code)
		}
		if code, _, body := s.ask(s.request("GET", "/ticks?from=2026-01-02T00:00&to=2026-01-01T00:00", nil)); code != 400 || !strings.Contains(body, "is not before") {
			s.Errorf("a time that ends before it begins: %d", code)
		}
	})
}

// Jobs of other queues count on Now, the page of jobs and that of the scheduler, as far as nextrun knows of them.
func TestJobsOfOtherQueuesAreCounted(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun, sink) VALUES ('a', 'work', 'hourly', '2099-01-01 00:00:00', 'river'), ('b', 'work', 'hourly', '2099-01-01 00:00:00', 'legacy')`)
		for i, hours := range []int{3, 2, 1} {
			at := sqldb.Timestamp(time.Now().Add(-time.Duration(hours) * time.Hour))
			s.Exec(`INSERT INTO periodic_open (task_id, due, sink, ref, jid, submitted, look) VALUES ('a', ?, 'river', ?, ?, ?, ?)`, at, fmt.Sprint(i), fmt.Sprint(i), at, at)
		}
		for path, want := range map[string]string{
			"/": `<a href="/scheduler#others">3 jobs in other queues</a>`, "/jobs": `<a href="/scheduler#others">in other queues 3</a>`,
		} {
			if page := s.get(path); !strings.Contains(page, want) {
				s.Errorf("%s does not count them", path)
			}
		}
		page := s.get("/scheduler")
		for _, want := range []string{"<b>river</b>: 3 jobs submitted and not known to have ended, the oldest ", "3 h ago", "<b>legacy</b>: it does not tell how jobs end, so nothing here knows whether some wait"} {
			if !strings.Contains(page, want) {
				s.Errorf("the page of the scheduler lacks %q", want)
			}
		}
	})
}
