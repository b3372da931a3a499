package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// A button skips the next run, and another one undoes that.
func TestSkipTheNextRun(t *testing.T) {
	one(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, starts) VALUES ('report', 'work', '*-*-* 02:00', '2090-01-01 00:00:00')`)
		if page := s.get("/task?id=report"); !strings.Contains(page, "Skip the next run</button>") || strings.Contains(page, "Undo</button>") {
			s.Error("the page has no button to skip, or one to undo what nobody has done")
		}
		form := url.Values{"action": {"skip"}, "id": {"report"}, "reason": {"the <b>server</b> moves"}, "back": {"task?id=report"}}
		if code, header, body := s.ask(s.request(http.MethodPost, "/tasks", form)); code != 303 || !strings.HasPrefix(header.Get("Location"), "/task?done=Skipped+a+run+to+come%3A+report.") {
			s.Errorf("%d to %q: %s", code, header.Get("Location"), body)
		}
		s.Want("2090-01-01 02:00:00 ada: the <b>server</b> moves", `SELECT substr(CAST(due AS varchar(30)), 1, 19) || ' ' || reason FROM periodic_tick WHERE decided IS NULL`)
		page := s.get("/task?id=report")
		for _, want := range []string{"left out by hand: ada: the &lt;b&gt;server&lt;/b&gt; moves", `name="tick" value="2090-01-01T02:00:00Z"`, "Undo</button>", "will be left out: "} {
			if !strings.Contains(page, want) {
				s.Errorf("the page lacks %q", want)
			}
		}
		var data struct {
			Skips []struct{ Reason string }
		}
		if s.data("/task?id=report&format=json", &data); len(data.Skips) != 1 || !strings.HasPrefix(data.Skips[0].Reason, "ada: ") {
			s.Errorf("%+v", data)
		}
		for tick, code := range map[string]int{"soon": 400, "2090-01-02T02:00:00Z": 400, "2090-01-01T02:00:00Z": 303} {
			if got, _, body := s.ask(s.request(http.MethodPost, "/tasks", url.Values{"action": {"unskip"}, "id": {"report"}, "tick": {tick}})); got != code {
				s.Errorf("unskip %s: %d %s", tick, got, body)
			}
		}
		s.Want(0, `SELECT count(*) FROM periodic_tick`)
	})
}

// What an action could not do is no success, and who looks at the list of troubles sees that somebody has paused a task.
func TestPagesSayWhatWasNotDone(t *testing.T) {
	one(t, dashboard.Options{Authorize: may}, func(s *site) {
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

// A pause says who, why and until when; resuming ends it.
func TestPauseAndResume(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'work', 'yearly'), ('other', 'work', 'yearly')`)
		s.Exec(`INSERT INTO periodic_task (id, task, timer, group_) VALUES ('office', 'work', 'yearly', 'x')`)
		form := url.Values{"action": {"pause"}, "id": {"report", "other"}, "reason": {"the <b>disk</b> is full"}, "until": {"2999-01-01 08:00"}, "back": {"tasks?state=paused"}}
		code, header, body := s.ask(s.request(http.MethodPost, "/tasks", form))
		if to := header.Get("Location"); code != 303 || to != "/tasks?done=Paused%3A+other%2C+report.&state=paused" {
			s.Errorf("%d to %q: %s", code, to, body)
		}
		if _, header, _ := s.ask(s.request(http.MethodPost, "/tasks?zone=Europe/Berlin", url.Values{"action": {"pause"}, "id": {"office"}, "until": {"2999-01-01 08:00"}})); !strings.Contains(header.Get("Location"), "Paused") {
			s.Errorf("pause in a zone: %v", header)
		}
		s.Want(1, `SELECT count(*) FROM periodic_task WHERE id = 'office' AND paused_until = '2999-01-01 07:00:00.000000'`)
		if page := s.get("/task?id=office&zone=Asia/Tokyo"); !strings.Contains(page, "<dt>group</dt><dd>x</dd>") {
			s.Error("a setting is not called as in files of tasks: " + page)
		}
		page := s.get("/tasks?state=paused&zone=Asia/Tokyo")
		if !strings.Contains(page, "Until (Asia/Tokyo)") || !strings.Contains(page, `action="/tasks?zone=Asia%2FTokyo"`) {
			s.Error("the form does not take times of the zone of the page")
		}
		for _, want := range []string{">report</a>", ">other</a>", "paused by ada since", "until 1 Jan 2999, 17:00: the &lt;b&gt;disk&lt;/b&gt; is full"} {
			if !strings.Contains(page, want) {
				s.Errorf("the list of paused tasks lacks %q", want)
			}
		}
		s.Want(2, `SELECT count(*) FROM periodic_task WHERE paused_by = 'ada' AND paused_until = '2999-01-01 08:00:00.000000'`)
		if code, _, _ := s.ask(s.request(http.MethodPost, "/tasks", url.Values{"action": {"resume"}, "id": {"report"}})); code != 303 {
			s.Errorf("resume: %d", code)
		}
		if page := s.get("/tasks?state=paused"); strings.Contains(page, ">report</a>") {
			s.Error("report was resumed and shows as paused")
		}
	})
}
