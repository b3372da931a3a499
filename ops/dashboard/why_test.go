package dashboard_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// The page of a task says why it does not run, and why it failed.
func TestWhyNot(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', 'yearly', '2026-01-01 08:00:00')`)
		s.history(1, func(_ context.Context, job *jobqueue.JobContext) error {
			job.Logf(jobqueue.Error, "login with password=hush")
			return jobqueue.Permanent(errors.New("password=hush is wrong"))
		})
		s.Exec(`UPDATE periodic_task SET paused = '2026-01-01 00:00:00', paused_by = 'ada' WHERE id = 'report'`)
		page := s.get("/task?id=report")
		for _, want := range []string{"It has been paused by ada since", "nextrun task resume report", "Its last run failed", "password= ***", "The end of the log of the job"} {
			if !strings.Contains(page, want) {
				s.Errorf("lacks %q", want)
			}
		}
		var d struct {
			Why struct {
				State    string
				Findings []struct{ Finding, Do string }
				Output   []string
			}
		}
		text := s.get("/task?id=report&format=json")
		s.data("/task?id=report&format=json", &d)
		if d.Why.State != "paused" || len(d.Why.Findings) != 2 || len(d.Why.Output) == 0 {
			s.Errorf("as JSON: %+v", d.Why)
		}
		if strings.Contains(page+text+s.get("/jobs")+s.get("/tasks"), "hush") {
			s.Error("a secret is shown")
		}
	})
}

// A timer that cannot be read is shown with a mark below the place, saved or tried.
func TestPlaceOfAProblem(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('bad', 'work', 'Mon 25:00'), ('good', 'work', 'yearly')`)
		for _, path := range []string{"/task?id=bad", "/task?id=good&timer=Mon+25:00"} {
			if page := s.get(path); !strings.Contains(page, "Mon 25:00\n    ^</pre>") {
				s.Errorf("%s does not show the place", path)
			}
		}
	})
}

// Pages are compressed for those who can read that.
func TestPagesAreCompressed(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
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
