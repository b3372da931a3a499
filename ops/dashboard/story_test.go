package dashboard_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// The page of a tick tells what became of it, with links to the ones beside it. It shows no
// secret that a job wrote.
func TestPageOfATick(t *testing.T) {
	both(t, dashboard.Options{Prefix: "/p"}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', 'hourly', '2026-03-28 23:00:00')`)
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, reason, decided) VALUES ('report', '2026-03-28 22:00:00.000000', 'skipped', 'its last job still runs', '2026-03-28 22:00:00')`)
		s.history(1, func(_ context.Context, job *jobqueue.JobContext) error {
			job.Logf(jobqueue.Info, `{"password": "geheim"}`)
			return nil
		})
		page := s.get("/tick?id=report&at=2026-03-28T22:20&zone=UTC")
		for _, want := range []string{"No tick was due at 2026-03-28 22:20:00 UTC. The nearest one, of 2026-03-28 22:00:00 UTC (20 min earlier), was skipped: its last job still runs.",
			`class="note off"`, "<b>decided</b>", `rel="next"`, `value="2026-03-28T22:20:00"`} {
			if !strings.Contains(page, want) {
				s.Errorf("the page lacks %q:\n%s", want, page)
			}
		}
		page = s.get("/tick?id=report&at=2026-03-28T23:00:00Z&zone=Europe/Berlin")
		for _, want := range []string{"succeeded", "<b>attempt 1</b>", `rel="prev"`, "attempt 1 begins on", "/p/job?id="} {
			if !strings.Contains(page, want) {
				s.Errorf("the page of the run lacks %q:\n%s", want, page)
			}
		}
		if strings.Contains(page, "geheim") {
			s.Error("the page shows a password")
		}
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, cause, decided) VALUES ('report', '2026-03-29 00:00:00.000000', 'skipped', 'overlap', '2026-03-29 00:00:00')`)
		if newest := s.get("/tick?id=report&zone=Europe/Berlin"); !strings.Contains(newest, "was skipped: a job of the task had not ended, that of the tick of 2026-03-29 00:00:00 CET (job ") || strings.Contains(newest, "No tick was due") {
			s.Errorf("the newest tick:\n%s", newest)
		}
		if before := s.get("/tick?id=report&at=2026-03-28T23:00:00%2B01:00&zone=Europe/Berlin"); !strings.Contains(before, "The tick of 2026-03-28 23:00:00 CET was skipped") || strings.Contains(before, `rel="prev"`) {
			s.Errorf("before the clock changed in Berlin:\n%s", before)
		}
		for path, want := range map[string]string{"/tick": "which task?", "/tick?id=report&at=teatime": "unknown time &#34;teatime&#34;", "/tick?id=nope": "not found"} {
			code, _, body := s.ask(s.request(http.MethodGet, path, nil))
			if code < 400 || code >= 500 || !strings.Contains(body, want) {
				s.Errorf("%s: %d\n%s", path, code, body)
			}
		}
	})
}
