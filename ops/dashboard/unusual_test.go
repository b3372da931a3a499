package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// A run that was much quicker than usual, and one that began again after its first attempt was lost, are not as any other,
// although they succeeded: all pages that show them say so.
func TestPagesSayWhatIsUnusual(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		now := time.Now().UTC().Truncate(time.Hour)
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('backup', 'work', 'hourly', '2099-01-01 00:00:00'), ('even', 'work', 'hourly', '2099-01-01 00:00:00')`)
		for i := 2; i < 9; i++ {
			s.ran("backup", now.Add(-time.Duration(i)*time.Hour), 42*time.Minute, "success")
			s.ran("even", now.Add(-time.Duration(i)*time.Hour), 42*time.Minute, "success")
		}
		due := now.Add(-time.Hour)
		s.ran("backup", due, time.Second, "success")
		s.Exec(`UPDATE job SET interrupts = 1, started = ?, finished = ? WHERE due = ?`, sqldb.Timestamp(due.Add(40*time.Minute)), sqldb.Timestamp(due.Add(40*time.Minute+time.Second)), sqldb.Timestamp(due))
		at := due.Format(time.RFC3339)
		for path, wants := range map[string][]string{
			"/tasks":                                    {"usually 42 min"},
			"/task?id=backup":                           {"took 1.00 s, <span class=\"warn\">usually 42 min", "began again 40 min after it was due"},
			"/job?id=backup" + url.QueryEscape(at):      {"usually 42 min"},
			"/tick?id=backup&at=" + url.QueryEscape(at): {"It took 1.00 s, usually 42 min."},
		} {
			page := s.get(path)
			for _, want := range wants {
				if !strings.Contains(page, want) {
					s.Errorf("%s lacks %q", path, want)
				}
			}
			if path == "/tasks" && strings.Count(page, "usually") != 1 {
				s.Error("a run as usual is said to be unusual")
			}
		}
		if page := s.get("/task?id=even"); strings.Contains(page, "usually 42") || strings.Contains(page, "began again") {
			s.Error("a run as usual is said to be unusual")
		}
	})
}

// An event that was published has one look on all pages, and one that waits has another.
func TestPublishedEventsAreGreen(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		due := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)
		for id, published := range map[string]string{"sent": "'2026-01-01 00:00:00'", "waits": "NULL"} {
			s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun, sink) VALUES (?, 'work', 'hourly', '2099-01-01 00:00:00', 'event')`, id)
			s.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES (?, 't', 'y', ?, 1)`, id, id)
			s.Exec(`INSERT INTO outbox_message (event_id, topic, published) VALUES (?, 't', `+published+`)`, id)
			s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, jid, decided) VALUES (?, ?, 'submitted', ?, ?)`, id, sqldb.Timestamp(due), id, sqldb.Timestamp(due))
		}
		var d struct {
			Strips []struct {
				ID   string
				Last struct{ State string }
				Day  []struct{ Worst string }
			}
		}
		s.data("/?format=json", &d)
		want := map[string][2]string{"sent": {"success", "success"}, "waits": {"pending", "submitted"}}
		for _, row := range d.Strips {
			if got := [2]string{row.Last.State, row.Day[0].Worst}; got != want[row.ID] {
				s.Errorf("%s: %q, want %q", row.ID, got, want[row.ID])
			}
			delete(want, row.ID)
		}
		if len(want) > 0 {
			s.Errorf("not listed: %v", want)
		}
	})
}

// The page of a tick that a hook submitted says so: nobody ran it by hand.
func TestTickOfAHook(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		due := time.Now().UTC().Truncate(time.Hour).Add(-time.Minute)
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('verify', 'work', 'hourly', '2099-01-01 00:00:00')`)
		s.ran("verify", due, time.Second, "success")
		s.Exec(`UPDATE periodic_tick SET cause = 'hook', reason = 'submitted by tasks.backup.on_success of backup'`)
		page := s.get("/tick?id=verify")
		if !strings.Contains(page, "the task has now: a hook asked for it") || !strings.Contains(page, ">submitted by tasks.backup.on_success of backup") || strings.Contains(page, "by hand") {
			s.Errorf("the page: %s", page)
		}
		s.Exec(`UPDATE periodic_tick SET cause = 'by_hand', reason = NULL`)
		if page := s.get("/tick?id=verify"); !strings.Contains(page, "the task has now: run by hand") {
			s.Errorf("the page: %s", page)
		}
	})
}

// What an action could not do is no success, and who looks at the list of troubles sees that somebody has paused a task.
func TestPagesSayWhatWasNotDone(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		due := time.Now().UTC().Truncate(time.Hour)
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('pay', 'work', 'hourly', '2099-01-01 00:00:00')`)
		s.ran("pay", due, time.Second, "failed")
		_, header, _ := s.ask(s.request(http.MethodPost, "/tasks", url.Values{"action": {"pause"}, "id": {"nobody", "pay"}, "reason": {"known"}, "until": {"3h"}}))
		to := header.Get("Location")
		if page := s.get(to); !strings.Contains(page, `<p class="note warn" role="status">`) || !strings.Contains(page, "Paused: pay. Not done: nobody: ") {
			s.Errorf("%q leads to %s", to, page)
		}
		if page := s.get("/tasks"); !strings.Contains(page, "paused by ada since") || !strings.Contains(page, ": known</span>") {
			s.Error("the list does not say that the task is paused")
		}
	})
}

// A page has its times in one zone. What is due and not taken is not said to be due later.
func TestOneZoneOfAPage(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		now := time.Now().UTC()
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('sync', 'work', 'hourly', ?)`, sqldb.Timestamp(now.Add(-time.Hour)))
		s.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00' WHERE id = 'sync'`)
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, cause) VALUES ('sync', '2026-01-03 11:00:00.000000', 'skipped', '2026-01-03 11:00:00.000000', 'overlap')`)
		page := s.get("/task?id=sync&zone=Asia/Tokyo")
		for _, want := range []string{"The tick of <span class=\"took\">2026-01-03 20:00:00 JST</span> was skipped: a job of the task had not ended", `<dd class="bad">due</dd><dd class="quiet">since `} {
			if !strings.Contains(page, want) {
				s.Errorf("lacks %q", want)
			}
		}
	})
}

// What helps is about what went wrong: of a task that fails it is the error, on the first page, too; of one
// whose jobs are too long, it is the interval.
func TestAdviceFitsTheTrouble(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.hours("fails", "fffff.fffff", time.Now().UTC())
		s.hours("long", ".s.s.s.s.s.s", time.Now().UTC())
		s.Exec(`UPDATE job SET result = 'no route' WHERE state = 'failed'`)
		for path, texts := range map[string][2]string{
			"/task?id=fails": {": no route.", "interval"}, "/task?id=long": {"5 of its last 10 ticks were skipped", "no route"}, "/": {"<br>no route", "interval"},
		} {
			if page := s.get(path); !strings.Contains(page, texts[0]) || strings.Contains(page, texts[1]) {
				s.Errorf("%s lacks %q, or has %q", path, texts[0], texts[1])
			}
		}
		if page := s.get("/"); strings.Count(page, "Its log</a>") != 1 {
			s.Error("the row of the task that fails does not lead to the log, or the other one does")
		}
	})
}
