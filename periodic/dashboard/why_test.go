package dashboard_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/dashboard"
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
		for _, want := range []string{"It has been paused by ada since", "nextrun task resume report", "Its last run failed", "password= ***", "The end of the output"} {
			if !strings.Contains(page, want) {
				s.Errorf("lacks %q", want)
			}
		}
		var d struct {
			Why struct {
				Verdict  string
				Findings []struct{ Finding, Do string }
				Output   []string
			}
		}
		text := s.get("/task?id=report&format=json")
		s.data("/task?id=report&format=json", &d)
		if d.Why.Verdict != "paused" || len(d.Why.Findings) != 2 || len(d.Why.Output) == 0 {
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

// A timeline that leaves something out says so.
func TestTimelineSaysThatItIsCut(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		const cut = "There are more planned runs than a page can hold"
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('a', 'work', '*:*:0/5')`)
		if strings.Contains(s.get("/timeline"), cut) {
			s.Error("nothing is cut, but the page says so")
		}
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('b', 'work', '*:*:0/5'), ('c', 'work', '*:*:0/5')`)
		if !strings.Contains(s.get("/timeline"), cut) {
			s.Error("the page does not say that it is cut")
		}
	})
}
