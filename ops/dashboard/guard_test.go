package dashboard_test

import (
	"compress/gzip"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/ops/dashboard"
)

func TestWhoMayAsk(t *testing.T) {
	by := func(user string, access dashboard.Access) func(*http.Request) (string, dashboard.Access) {
		return func(*http.Request) (string, dashboard.Access) { return user, access }
	}
	pause := url.Values{"id": {"report"}, "action": {"run"}, "back": {"tasks"}}
	for name, test := range map[string]struct {
		options dashboard.Options
		change  func(r *http.Request)
		get     int // status of a page
		post    int // status of an action
	}{
		"nobody is asked who they are: read": {get: 200, post: 403},
		"may act":                            {options: dashboard.Options{Authorize: by("ada", dashboard.Act)}, get: 200, post: 303},
		"may read":                           {options: dashboard.Options{Authorize: by("ada", dashboard.Read)}, get: 200, post: 403},
		"may nothing":                        {options: dashboard.Options{Authorize: by("", dashboard.None)}, get: 401, post: 401},
		"has guessed too often":              {options: dashboard.Options{Authorize: by("", dashboard.TooMany)}, get: 429, post: 429},
		"read-only for all":                  {options: dashboard.Options{Authorize: by("ada", dashboard.Act), ReadOnly: true}, get: 200, post: 403},
		"a foreign name of this host (DNS rebinding)": {change: func(r *http.Request) { r.Host = "evil.example" }, get: 421, post: 421},
		"a name with a port":                          {change: func(r *http.Request) { r.Host = "localhost:99" }, get: 200, post: 403},
		"the address of the other protocol":           {change: func(r *http.Request) { r.Host = "[::1]:99" }, get: 200, post: 403},
		"a name that was given": {options: dashboard.Options{Hosts: []string{"cron.example"}, Authorize: by("ada", dashboard.Act)},
			change: func(r *http.Request) { r.Host = "CRON.example:443" }, get: 200, post: 303},
		"another than was given": {options: dashboard.Options{Hosts: []string{"cron.example"}, Authorize: by("ada", dashboard.Act)},
			change: func(r *http.Request) { r.Host = "localhost" }, get: 421, post: 421},
		"from a page of another site": {options: dashboard.Options{Authorize: by("ada", dashboard.Act)},
			change: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, get: 200, post: 403},
		"a name that begins like one of ours, behind a header of proxies": {change: func(r *http.Request) {
			r.Host = "localhost.evil.example"
			r.Header.Set("X-Forwarded-Host", "localhost")
		}, get: 421, post: 421},
		"from a page without an origin": {options: dashboard.Options{Authorize: by("ada", dashboard.Act)},
			change: func(r *http.Request) { r.Header.Set("Origin", "null") }, get: 200, post: 403},
		"from a foreign origin": {options: dashboard.Options{Authorize: by("ada", dashboard.Act)},
			change: func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, get: 200, post: 403},
	} {
		t.Run(name, func(t *testing.T) {
			one(t, test.options, func(s *site) {
				s.Exec(`INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('report', 'work', 'yearly', false)`)
				for method, want := range map[string]int{http.MethodGet: test.get, http.MethodPost: test.post} {
					form := pause
					if method == http.MethodGet {
						form = nil
					}
					r := s.request(method, "/tasks", form)
					if test.change != nil {
						test.change(r)
					}
					code, header, body := s.ask(r)
					if code != want {
						s.Errorf("%s: %d, want %d: %s", method, code, want, body)
					}
					if h := header.Get("Content-Security-Policy"); want != 303 && !strings.Contains(h, "default-src 'none'") && code != 403 {
						s.Errorf("%s: the policy is %q", method, h)
					}
				}
				jobs := "0"
				if test.post == 303 {
					jobs = "1"
				}
				s.Want(jobs, `SELECT count(*) FROM job WHERE tracker = 'report'`)
			})
		})
	}
}

func TestErrorsOfPages(t *testing.T) {
	one(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'work', 'yearly')`)
		for _, method := range []string{http.MethodPut, http.MethodDelete} {
			if code, header, _ := s.ask(s.request(method, "/tasks", nil)); code != http.StatusMethodNotAllowed || header.Get("Allow") == "" {
				s.Errorf("%s: %d, Allow: %s", method, code, header.Get("Allow"))
			}
		}
		for path, want := range map[string]struct {
			code int
			text string
		}{
			"/task?id=nobody":      {404, "nobody"},
			"/task":                {400, "which task?"},
			"/run":                 {400, "which run?"},
			"/run?job=x":           {404, "not found"},
			"/run?id=nobody":       {404, "not found"},
			"/run?id=x&at=teatime": {400, "unknown time &#34;teatime&#34;"},
			"/runs?state=lost":     {400, "use one of running"},
			"/runs?from=2026-01-02T00:00&to=2026-01-01T00:00": {400, "is not before"},
			"/task?id=report&until=yesterday":                 {400, "use a time such as"},
			"/timeline?at=teatime":                            {400, "unknown time"},
			"/static/":                                        {404, "there is no page /static/"},
			"/static/fonts/":                                  {404, "there is no page /static/fonts/"},
			"/nowhere":                                        {404, "there is no page /nowhere"},
			"/timeline?zone=Europe/Berln":                     {400, "unknown time zone"},
			"/tasks?state=happy":                              {400, "unknown state"},
			"/tasks?state=happy&format=json":                  {400, `{"error":"unknown state`},
		} {
			if code, _, body := s.ask(s.request(http.MethodGet, path, nil)); code != want.code || !strings.Contains(body, want.text) {
				s.Errorf("%s: %d %s", path, code, body)
			}
		}
		once := url.Values{"action": {"run"}, "id": {"report", "report", "report"}}
		if code, header, body := s.ask(s.request(http.MethodPost, "/tasks", once)); code != 303 || s.told(header) != "/?done=Submitted%3A+report." {
			s.Errorf("%d to %s: %s", code, header.Get("Location"), body)
		}
		for name, form := range map[string]url.Values{
			"no task is selected":              {"action": {"run"}},
			`unknown action &#34;explode&#34;`: {"action": {"explode"}, "id": {"report"}},
			"until is &#34;soon&#34;":          {"action": {"pause"}, "id": {"report"}, "until": {"soon"}},
			"nothing was changed: nobody: ":    {"action": {"run"}, "id": {"nobody"}},
			"which is over":                    {"action": {"pause"}, "id": {"report"}, "until": {"2020-01-01"}},
		} {
			if code, _, body := s.ask(s.request(http.MethodPost, "/tasks", form)); code != 400 || !strings.Contains(body, name) {
				s.Errorf("%s: %d %s", name, code, body)
			}
		}
	})
}

// The script asks for the main part only, and gets it only when something has changed.
func TestRefresh(t *testing.T) {
	one(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('report', 'work', 'yearly')`)
		ask := func(path, tag string) (int, string, string) {
			r := s.request(http.MethodGet, path, nil)
			r.Header.Set("X-Part", "main")
			r.Header.Set("If-None-Match", tag)
			code, header, body := s.ask(r)
			return code, header.Get("ETag"), body
		}
		code, tag, body := ask("/tasks", "")
		if code != 200 || strings.Contains(body, "<html") || !strings.Contains(body, ">report<") {
			s.Errorf("%d: %s", code, body)
		}
		if page := s.get("/tasks"); !strings.Contains(page, `data-tag="`+html.EscapeString(tag)+`"`) {
			s.Error("the page does not say with what its first refresh compares")
		}
		if code, _, _ := ask("/tasks", tag); code != 304 {
			s.Errorf("nothing has changed, but the status is %d", code)
		}
		s.Exec(`UPDATE periodic_task SET enabled = false WHERE id = 'report'`)
		code, tag, body = ask("/tasks", tag)
		if code != 200 || !strings.Contains(body, "disabled") {
			s.Errorf("after a change: %d: %s", code, body)
		}
		if code, _, _ := s.ask(s.request(http.MethodPost, "/tasks", url.Values{"id": {"report"}, "action": {"run"}})); code != 303 {
			s.Errorf("status %d", code)
		}
		if code, _, _ := ask("/tasks", tag); code != 200 {
			s.Errorf("after an action: %d", code)
		}
	})
}

// Pages are compressed for those who can read that.
func TestPagesAreCompressed(t *testing.T) {
	one(t, dashboard.Options{}, func(s *site) {
		for _, path := range []string{"/timeline", "/static/script.js", "/?format=json"} {
			r := s.request(http.MethodGet, path, nil)
			r.Header.Set("Accept-Encoding", "gzip")
			_, header, body := s.ask(r)
			unpacked, err := gzip.NewReader(strings.NewReader(body))
			if err != nil || header.Get("Content-Encoding") != "gzip" || !strings.Contains(header.Get("Vary"), "Accept-Encoding") {
				s.Fatalf("%s: %v, %v", path, header, err)
			}
			if text, err := io.ReadAll(unpacked); err != nil || len(text) < len(body) {
				s.Errorf("%s: %d bytes of %d: %v", path, len(body), len(text), err)
			}
		}
	})
}
