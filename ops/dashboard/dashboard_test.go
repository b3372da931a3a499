package dashboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"
	"golang.org/x/net/html"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// site is a dashboard of a database.
type site struct {
	*migrated.Database
	url string
}

// may lets everybody do everything.
func may(*http.Request) (string, dashboard.Access) { return "ada", dashboard.Act }

// both is for pages that read the database.
func both(t *testing.T, o dashboard.Options, run func(s *site)) {
	t.Parallel()
	migrated.Both(t, func(_ *testing.T, d *migrated.Database) { serve(d, o, run) })
}

// one is for what no database makes different.
func one(t *testing.T, o dashboard.Options, run func(s *site)) {
	t.Parallel()
	serve(migrated.New(t, storetest.SQLite), o, run)
}

func serve(d *migrated.Database, o dashboard.Options, run func(s *site)) {
	o.Logger, _ = test.NewNullLogger()
	pages, err := dashboard.Handler(d.As("operator"), o)
	if err != nil {
		d.Fatal(err)
	}
	server := httptest.NewServer(pages)
	d.Cleanup(server.Close)
	run(&site{d, server.URL + o.Prefix})
}

// ask sends a request and returns the status and the body.
func (s *site) ask(r *http.Request) (int, http.Header, string) {
	s.Helper()
	client := &http.Client{
		Transport:     &http.Transport{}, // servers of other tests close the connections of the usual one
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(body)
}

func (s *site) request(method, path string, form url.Values) *http.Request {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

// get returns a page that must be there, after a look at its HTML.
func (s *site) get(path string) string {
	s.Helper()
	code, _, body := s.ask(s.request(http.MethodGet, path, nil))
	if code != http.StatusOK {
		s.Fatalf("GET %s: %d\n%s", path, code, body)
	}
	if _, err := html.Parse(strings.NewReader(body)); err != nil {
		s.Errorf("GET %s: %v", path, err)
	}
	return body
}

// data reads a page as JSON.
func (s *site) data(path string, into any) {
	s.Helper()
	if err := json.Unmarshal([]byte(s.get(path)), into); err != nil {
		s.Fatal(err)
	}
}

// history lets a scheduler submit a job of each due task and an executor run them.
func (s *site) history(n int, handler jobqueue.Handler) {
	s.Helper()
	s.Schedule()
	s.Work(n, "work", handler)
}

var allPages = []string{"/", "/tasks", "/task?id=report", "/tick?id=report", "/timeline", "/timeline?zone=Europe/Berlin", "/timeline?group=default",
	"/jobs", "/events", "/scheduler"}

func TestPagesShowARun(t *testing.T) {
	both(t, dashboard.Options{Prefix: "/schedules"}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, args, nextrun, overlap) VALUES
			('report', 'work', 'Mon..Fri 09:00 Europe/Berlin', '{"to": "ada", "api_token": "hush"}', '2026-01-01 08:00:00', 'skip'),
			('bad', 'work', 'Mon 25:00', '{}', '1970-01-01 00:00:00', 'skip')`)
		s.history(1, func(_ context.Context, job *jobqueue.JobContext) error {
			job.Logf(jobqueue.Info, "connecting with password=hush")
			return errors.New("the printer is on fire")
		})
		for _, path := range allPages {
			body := s.get(path)
			if !strings.Contains(body, `<a class="name" href="/schedules/">`) {
				s.Errorf("%s has no menu", path)
			}
			s.data(path+map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]+"format=json", &map[string]any{})
		}
		page := s.get("/task?id=report")
		for _, want := range []string{"Mon..Fri 09:00 Europe/Berlin", "2026-01-01 08:00:00 UTC", "&#34;to&#34;: &#34;ada&#34;", "INSERT INTO periodic_task", `class="state wait"`, "<td>the printer is on fire</td>"} {
			if !strings.Contains(page, want) {
				s.Errorf("the page of the task lacks %q", want)
			}
		}
		var jobs struct {
			Jobs []struct{ JID, Result string }
		}
		s.data("/jobs?task=report&format=json", &jobs)
		if len(jobs.Jobs) != 1 || !strings.Contains(jobs.Jobs[0].Result, "on fire") {
			s.Fatalf("the jobs of the task: %+v", jobs)
		}
		page += s.get("/job?id=" + jobs.Jobs[0].JID)
		if !strings.Contains(page, "connecting with password= ***") {
			s.Error("the page of the job lacks its log")
		}
		if strings.Contains(page, "hush") {
			s.Error("a secret is shown")
		}
		if page := s.get("/tasks?q=BA&state=problem"); !strings.Contains(page, ">bad</a>") || strings.Contains(page, ">report</a>") {
			s.Error("the search for tasks with a problem finds others")
		}
	})
}
