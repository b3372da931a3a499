package dashboard_test

import (
	"encoding/base64"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/ops/dashboard"
)

// told is where an answer leads to, with what the next page says in the parameter done.
func (s *site) told(header http.Header) string {
	s.Helper()
	to, err := url.Parse(header.Get("Location"))
	if err != nil {
		s.Fatal(err)
	}
	q := to.Query()
	if s.done != nil {
		text, _ := base64.RawURLEncoding.DecodeString(s.done.Value)
		q.Set("done", string(text))
	}
	to.RawQuery = q.Encode()
	return to.String()
}

// post sends a form that must lead to a page that begins so, with what that page says in the parameter done.
func (s *site) post(path string, form url.Values, leads string) (to string) {
	s.Helper()
	code, header, body := s.ask(s.request(http.MethodPost, path, form))
	to = s.told(header)
	if code != http.StatusSeeOther || !strings.HasPrefix(to, leads) {
		s.Errorf("%s leads to %q with %d, want %q: %s", path, to, code, leads, body)
	}
	return to
}

// A button skips the next run, and another one undoes that.
func TestSkipTheNextRun(t *testing.T) {
	one(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, starts) VALUES ('report', 'work', '*-*-* 02:00', '2090-01-01 00:00:00')`)
		s.shows("/task?id=report", "Skip the next run</button>", "!Undo</button>")
		s.post("/tasks", url.Values{"action": {"skip"}, "id": {"report"}, "reason": {"the <b>server</b> moves"}, "back": {"task?id=report"}}, "/task?done=Skipped+a+run+to+come%3A+report.")
		s.Want("2090-01-01 02:00:00 ada: the <b>server</b> moves", `SELECT substr(CAST(due AS varchar(30)), 1, 19) || ' ' || reason FROM periodic_tick WHERE decided IS NULL`)
		s.shows("/task?id=report", "Skipped by hand", "ada: the &lt;b&gt;server&lt;/b&gt; moves", `name="tick" value="2090-01-01T02:00:00Z"`, "Undo</button>")
		for tick, code := range map[string]int{"soon": 400, "2090-01-02T02:00:00Z": 400, "2090-01-01T02:00:00Z": 303} {
			if got, _, body := s.ask(s.request(http.MethodPost, "/tasks", url.Values{"action": {"unskip"}, "id": {"report"}, "tick": {tick}})); got != code {
				s.Errorf("unskip %s: %d %s", tick, got, body)
			}
		}
		s.Want(0, `SELECT count(*) FROM periodic_tick`)
	})
}

// A pause says who, why and until when, in the zone of the page; resuming ends it. What an action could not do is no success.
func TestPauseAndResume(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.task("report", "other", "office")
		form := url.Values{"action": {"pause"}, "id": {"report", "other"}, "reason": {"the <b>disk</b> is full"}, "until": {"2999-01-01 08:00"}, "back": {"tasks?state=paused"}}
		s.post("/tasks", form, "/tasks?done=Paused%3A+other%2C+report.&state=paused")
		s.Want(2, `SELECT count(*) FROM periodic_task WHERE paused_by = 'ada' AND paused_until = '2999-01-01 08:00:00.000000'`)
		s.shows("/tasks?state=paused&zone=Asia/Tokyo", "Until (Asia/Tokyo)", `action="/tasks?zone=Asia%2FTokyo"`, ">report<", ">other<", "!>office<",
			"paused by ada since", "until 1 Jan 2999, 17:00:00: the &lt;b&gt;disk&lt;/b&gt; is full")
		to := s.post("/tasks?zone=Europe/Berlin", url.Values{"action": {"pause"}, "id": {"nobody", "office"}, "until": {"2999-01-01 08:00"}}, "/?done=Paused")
		s.shows(to, `<p class="note warn" role="status">`, "Paused: office. Not done: nobody: ")
		s.shows(to, `!role="status"`) // neither again nor for the address
		s.Want(1, `SELECT count(*) FROM periodic_task WHERE id = 'office' AND paused_until = '2999-01-01 07:00:00.000000'`)
		s.post("/tasks", url.Values{"action": {"resume"}, "id": {"report"}}, "/?done=Resumed")
		s.post("/tasks?zone=Asia/Tokyo", url.Values{"action": {"pause"}, "id": {"office"}, "until": {"monday"}}, "/?done=Paused")
		s.shows("/task?id=office&zone=Asia/Tokyo", "Paused by ada since", "until Mon ", ", 00:00:00")
		s.Exec(`UPDATE periodic_task SET nextrun = '2998-01-01 00:00:00' WHERE id = 'office'`)
		s.shows("/task?id=office", "next: <b>") // after the end of the pause
		s.shows("/tasks?state=paused", "!>report<")
	})
}

// A pause that cannot be read keeps what was typed: the error leads back to the form, which has it. Who has no name is not named.
func TestPauseKeepsWhatWasTyped(t *testing.T) {
	one(t, dashboard.Options{Authorize: func(*http.Request) (string, dashboard.Access) { return "", dashboard.Act }}, func(s *site) {
		s.task("report")
		form := url.Values{"action": {"pause"}, "id": {"report"}, "reason": {"the <b>disk</b>"}, "until": {"next week"}, "back": {"task?id=report"}}
		code, _, page := s.ask(s.request(http.MethodPost, "/tasks", form))
		_, link, _ := strings.Cut(page, `<p><a href="`)
		link, _, found := strings.Cut(link, `">Back to the form</a>`)
		if code != http.StatusBadRequest || !found || !strings.Contains(page, "next week") {
			s.Fatalf("%d %s", code, page)
		}
		s.shows(html.UnescapeString(link), `<details class="menu" open>`, `value="next week"`, `value="the &lt;b&gt;disk&lt;/b&gt;"`)
		s.task("other")
		form["id"], form["back"] = []string{"report", "other"}, []string{"tasks?state=enabled"}
		_, _, page = s.ask(s.request(http.MethodPost, "/tasks", form))
		_, link, _ = strings.Cut(page, `<p><a href="`)
		link, _, _ = strings.Cut(link, `">Back to the form</a>`)
		s.shows(html.UnescapeString(link), `aria-label="Select other" checked`, `aria-label="Select report" checked`, `<details class="menu" open>`)
		form.Set("back", "https://evil.example/")
		if _, _, page := s.ask(s.request(http.MethodPost, "/tasks", form)); strings.Contains(page, "evil") {
			s.Errorf("the error leads to another site: %s", page)
		}
		form.Set("until", "")
		form.Set("id", "report")
		s.post("/tasks", form, "/?done=Paused")
		s.shows("/task?id=report", "Paused since", "!by somebody", `!<details class="menu" open>`)
	})
}

// A form shows the next runs after a change of any column, with the statement for it, and is saved only if nobody was faster.
func TestEditOfATask(t *testing.T) {
	one(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'work', '*-*-* 02:00')`)
		for timer, want := range map[string][]string{
			"*-*-* 02,14:00": {"It elapses at 02:00 and 14:00 every day", "02:00:00 ·", "14:00:00 ·", "Timer from *-*-* 02:00 to *-*-* 02,14:00"},
			"*-*-31":         {"Day 31 does not exist in February, April, June, September and November."},
			"12:00 Mars":     {"unknown time zone", "12:00 Mars\n      ^"},
			"Mon 25:00":      {"25", "!UPDATE"},
		} {
			s.shows("/task?id=report&edit=1&timer="+url.QueryEscape(timer), want...)
		}
		change := url.Values{"id": {"report"}, "edit": {"1"}, "retry_limit": {"7"}, "timeout": {"1h30m"}, "summary": {"it's due"}}
		page := s.shows("/task?"+change.Encode(), "UPDATE periodic_task SET ", "retry_limit = 7", "timeout = 5400", "summary = &#39;it&#39;&#39;s due&#39;", " WHERE id = &#39;report&#39;;")
		s.shows("/task?id=report&edit=1&timeout=soon", "timeout is &#34;soon&#34; and must be whole seconds")
		_, was, _ := strings.Cut(page, `name="was" value="`)
		was, _, _ = strings.Cut(was, `"`)
		change.Set("was", html.UnescapeString(was))
		s.post("/task", change, "/task?done=The+task+is+saved.&id=report")
		s.Want("7 5400 it's due", `SELECT CAST(retry_limit AS varchar(9)) || ' ' || CAST(timeout AS varchar(9)) || ' ' || summary FROM periodic_task`)
		if code, _, body := s.ask(s.request(http.MethodPost, "/task", change)); code != 400 || !strings.Contains(body, "meanwhile") {
			s.Errorf("somebody was faster: %d %s", code, body)
		}
		s.Exec(`INSERT INTO periodic_calendar (name, first_day, last_day) VALUES ('closed', '2000-01-01', '2198-12-31')`)
		s.Exec(`UPDATE periodic_task SET exclude_calendars = 'closed'`)
		s.shows("/task?id=report&edit=1&timer=hourly", "every hour", `<s title="`)
	})
}

// A form makes a task, and shows its first runs and the statement for it before.
func TestAddATask(t *testing.T) {
	one(t, dashboard.Options{Authorize: may}, func(s *site) {
		form := url.Values{"new": {"1"}, "action": {"add"}, "id": {"greet"}, "handler": {"mail"}, "timer": {"*-*-* 07:00"}, "args": {`{"to": "ada"}`}}
		s.shows("/task?"+form.Encode(), "It elapses at 07:00 every day", "INSERT INTO periodic_task (id, task, timer, args)")
		s.Want(0, `SELECT count(*) FROM periodic_task`)
		s.post("/task", form, "/task?done=The+task+is+added.&id=greet")
		s.Want(`mail *-*-* 07:00 {"to": "ada"}`, `SELECT task || ' ' || timer || ' ' || args FROM periodic_task WHERE id = 'greet'`)
		if code, _, body := s.ask(s.request(http.MethodPost, "/task", form)); code != 409 || !strings.Contains(body, "exists already") {
			s.Errorf("a second one: %d %s", code, body)
		}
	})
}
