package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// The page of a task says of each tick that has to finish by a time whether it did, will, or may not, and why. Each state has a shape.
func TestFinishTimes(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, finish_by, nextrun) VALUES ('report', 'work', 'hourly', '2h', '2099-01-01 00:00:00')`)
		if page := s.get("/task?id=report"); strings.Contains(page, "Finished in time?") {
			s.Error("the page asks whether ticks finished in time, of which there are none")
		}
		now := time.Now().UTC().Truncate(time.Hour)
		for i, one := range []struct{ job, by, found, why string }{
			{"running", "2099-01-01 02:00:00", "NULL", "NULL"},
			{"running", "2099-01-01 02:00:00", "'at risk'", "'it has run for 5 h, and usually takes 6 h'"},
			{"failed", "2026-01-01 02:00:00", "'late'", "'its job failed: no route'"},
			{"unknown", "2026-01-01 02:00:00", "NULL", "NULL"},
			{"success", "2099-01-01 02:00:00", "NULL", "NULL"},
		} {
			due := now.Add(-time.Duration(i+1) * time.Hour)
			s.ran("report", due, time.Minute, one.job)
			s.Exec(`UPDATE periodic_tick SET finish_by = '`+one.by+`', finish = `+one.found+`, finish_why = `+one.why+` WHERE due = ?`, sqldb.Timestamp(due))
		}
		s.Exec(`UPDATE job SET finished = NULL WHERE state = 'running'`)
		_, page, found := strings.Cut(s.get("/task?id=report"), `<section id="finish">`)
		page, _, _ = strings.Cut(page, "</section>")
		rows := strings.Split(page, "<tr><td>")
		if !found || len(rows) != 6 {
			s.Fatalf("the page has no rows for five ticks:\n%s", page)
		}
		for i, want := range [][]string{
			{"on course", `href="#wait"`, "its job is running"},
			{"at risk", `href="#warn"`, "it has run for 5 h, and usually takes 6 h"},
			{"late", `href="#bad"`, "its job failed: no route"},
			{"not known", `href="#off"`, "nobody knows how its job ended"},
			{"in time", `href="#good"`, "ended "},
		} {
			for _, text := range want {
				if !strings.Contains(rows[i+1], text) {
					s.Errorf("the row of a tick that is %s lacks %q:\n%s", want[0], text, rows[i+1])
				}
			}
		}
	})
}
