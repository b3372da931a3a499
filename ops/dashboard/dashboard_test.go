package dashboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// site is a dashboard of a database.
type site struct {
	*migrated.Database
	url  string
	done *http.Cookie // what an action has done
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
	o.Logger = slog.New(slog.DiscardHandler)
	pages, err := dashboard.Handler(d.As("operator"), o)
	if err != nil {
		d.Fatal(err)
	}
	server := httptest.NewServer(pages)
	d.Cleanup(server.Close)
	run(&site{Database: d, url: server.URL + o.Prefix})
}

// ask sends a request and returns the status and the body.
func (s *site) ask(r *http.Request) (int, http.Header, string) {
	s.Helper()
	client := &http.Client{
		Transport:     &http.Transport{}, // servers of other tests close the connections of the usual one
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	if s.done != nil {
		r.AddCookie(s.done)
	}
	answer, err := client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	for _, c := range answer.Cookies() {
		if c.Name == "nextrun_done" {
			if s.done = c; c.MaxAge < 0 {
				s.done = nil
			}
		}
	}
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
	for late := time.Now().Add(storetest.Patience); code == http.StatusGatewayTimeout && time.Now().Before(late); { // a busy machine
		code, _, body = s.ask(s.request(http.MethodGet, path, nil))
	}
	if code != http.StatusOK {
		s.Fatalf("GET %s: %d\n%s", path, code, body)
	}
	if _, err := html.Parse(strings.NewReader(body)); err != nil {
		s.Errorf("GET %s: %v", path, err)
	}
	return body
}

// words is what one reads on a page.
func words(page string) string {
	var read []string
	for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
		if token := z.Token(); token.Type == html.TextToken {
			read = append(read, strings.Fields(token.Data)...)
		}
	}
	return strings.NewReplacer(" ,", ",", " .", ".", " :", ":").Replace(strings.Join(read, " "))
}

// shows returns a page on which one reads texts, or whose HTML has them. It lacks those that begin with an exclamation mark.
func (s *site) shows(path string, texts ...string) string {
	s.Helper()
	page := s.get(path)
	read := words(page)
	for _, text := range texts {
		text, lacks := strings.CutPrefix(text, "!")
		if (strings.Contains(page, text) || strings.Contains(read, text)) == lacks {
			s.Errorf("%s: that it has %q is %t:\n%s", path, text, !lacks, read)
		}
	}
	return page
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

// ran adds a tick of a task and the job that it became.
func (s *site) ran(task string, due time.Time, took time.Duration, state string) {
	s.Helper()
	jid := task + due.UTC().Format(time.RFC3339)
	s.Exec(`INSERT INTO job (jid, task, tracker, state, worker, due, submitted, started, finished) VALUES (?, 'work', ?, ?, 'vm@abcdef012345', ?, ?, ?, ?)`,
		jid, task, state, sqldb.Timestamp(due), sqldb.Timestamp(due), sqldb.Timestamp(due), sqldb.Timestamp(due.Add(took)))
	s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, jid, worker, decided) VALUES (?, ?, 'submitted', ?, 'vm@0123456789ab.17', ?)`,
		task, sqldb.Timestamp(due), jid, sqldb.Timestamp(due))
}

// task adds a task that is not due.
func (s *site) task(ids ...string) {
	s.Helper()
	for _, id := range ids {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES (?, 'work', 'hourly', '2099-01-01 00:00:00')`, id)
	}
}

// scheduler adds one that runs.
func (s *site) scheduler() {
	s.Exec(`INSERT INTO worker (id, kind, version, started, seen) VALUES ('a@1', 'scheduler', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00')`)
}

// A run that failed is on each page, without the secrets of its args and its log.
func TestPagesShowARun(t *testing.T) {
	both(t, dashboard.Options{Prefix: "/schedules"}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, args, nextrun, overlap) VALUES
			('report', 'work', 'Mon..Fri 09:00 Europe/Berlin', '{"to": "ada", "api_token": "hush"}', '2026-01-01 08:00:00', 'skip'),
			('bad', 'work', 'Mon 25:00', '{}', '1970-01-01 00:00:00', 'skip')`)
		s.history(1, func(_ context.Context, job *jobqueue.JobContext) error {
			job.Logf(jobqueue.Info, "connecting with password=hush")
			return errors.New("the printer is on fire")
		})
		for _, path := range []string{"/", "/tasks", "/task?id=report", "/task?id=report&edit=1", "/task?new=1", "/runs", "/run?id=report", "/timeline", "/timeline?group=default", "/system"} {
			s.shows(path, `<a class="brand" href="/schedules/"`, "!hush")
			s.data(path+map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]+"format=json", &map[string]any{})
		}
		s.shows("/task?id=report", "Mon..Fri 09:00 Europe/Berlin", "&#34;to&#34;: &#34;ada&#34;", "INSERT INTO periodic_task", "retrying", "the printer is on fire")
		s.shows("/run?id=report", "connecting with password= ***", "the printer is on fire", "retrying")
		s.shows("/runs?task=report", "retrying", "the printer is on fire")
		s.shows("/tasks?q=BA+state:problem", ">bad<", "!>report<")
	})
}
