package dashboard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard"
)

type nowData struct {
	Empty  bool
	Totals struct {
		Troubled int  `json:"need_attention"`
		Overdue  int  `json:"overdue"`
		Fresh    bool `json:"no_scheduler_yet"`
	}
	Troubled []struct {
		ID    string
		Wrong struct{ State string }
	}
	Others int `json:"troubled_not_listed"`
	Soon   []struct{ ID, Blocked string }
}

// The first page finds what fails among all tasks, and says how many it does not list.
func TestNowLooksAtAllTasks(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		for i := range 120 {
			s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES (?, 'work', 'hourly', '2099-01-01 00:00:00')`, fmt.Sprintf("t%03d", i))
		}
		now := time.Now().UTC()
		for i := 78; i < 120; i++ { // 42, none of them among the first
			s.ran(fmt.Sprintf("t%03d", i), now.Add(-2*time.Hour), time.Second, "failed")
		}
		s.ran("t119", now.Add(-time.Hour), time.Second, "running") // it does not make up for the failure
		s.ran("t118", now.Add(-time.Hour), time.Second, "success") // but this does
		s.ran("t000", now.Add(-time.Hour), time.Second, "success")
		s.Exec(`UPDATE periodic_task SET enabled = false WHERE id = 't117'`)
		s.Exec(`UPDATE periodic_task SET timer = 'Mon 25:00' WHERE id = 't050'`)
		s.Exec(`UPDATE periodic_task SET problem = 'the timer is wrong' WHERE id = 't050'`)
		var d nowData
		s.data("/?format=json", &d)
		if d.Totals.Troubled != 41 || len(d.Troubled) != 30 || d.Others != 11 || d.Troubled[0].ID != "t050" || d.Troubled[1].Wrong.State != "failed" {
			s.Errorf("%+v", d)
		}
		page := s.get("/")
		for _, want := range []string{`<a href="#attention"><strong>41</strong> need attention</a>`, "and 11 more"} {
			if !strings.Contains(page, want) {
				s.Errorf("the page lacks %q", want)
			}
		}
		list := s.get("/tasks?state=attention&after=t118")
		if !strings.Contains(list, ">t119</a>") {
			s.Error("the list of tasks that need attention lacks the last one")
		}
	})
}

// The first page of a new database says what to do, and raises no alarm.
func TestNowOfANewDatabase(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`UPDATE periodic_task SET created = '2026-01-01 00:00:00'`)
		var d nowData
		s.data("/?format=json", &d)
		page := s.get("/")
		if !d.Empty || !d.Totals.Fresh || !strings.Contains(page, "No tasks yet. Add one:") || !strings.Contains(page, "No scheduler has run on this database yet") ||
			strings.Contains(page, `role="alert"`) || strings.Contains(page, "overdue") {
			s.Errorf("%+v\n%s", d, page)
		}
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('t', 'work', 'hourly', '2026-01-01 00:00:00')`)
		s.ran("t", time.Now().Add(-time.Hour), time.Second, "success")
		s.data("/?format=json", &d)
		if d.Empty || d.Totals.Fresh || d.Totals.Overdue == 0 || !strings.Contains(s.get("/"), `role="alert"`) {
			s.Errorf("with a task that a scheduler has known: %+v", d)
		}
		if page := s.get("/"); !strings.Contains(page, "no scheduler is known to run") {
			s.Errorf("without a scheduler:\n%s", page)
		}
		s.Exec(`INSERT INTO worker_service (worker, kind, version, started, seen) VALUES ('a@1', 'scheduler', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00')`)
		if page := s.get("/"); strings.Contains(page, "no scheduler") || !strings.Contains(page, `Their pages say why: <a href="/task?id=`) {
			s.Errorf("with a scheduler that runs:\n%s", page)
		}
	})
}

// What is due soon, but cannot be submitted, is not shown as if it could.
func TestNowOfATaskThatIsBlocked(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`DELETE FROM periodic_task`)
		for id, columns := range map[string]string{"a": "NULL, 'nosuch'", "b": "'it is wrong', 'job'", "c": "'warning: args is not JSON', 'job'"} {
			s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun, problem, sink) VALUES (?, 'work', 'hourly', '2026-01-01 00:00:00', `+columns+`)`, id)
			s.Exec(`UPDATE periodic_task SET problem = `+strings.Split(columns, ",")[0]+` WHERE id = ?`, id)
		}
		var d nowData
		s.data("/?format=json", &d)
		want := `[{a sink "nosuch": this program has no queue of that name} {b it is wrong} {c }]`
		if got := fmt.Sprint(d.Soon); got != want || !strings.Contains(s.get("/"), `<span class="bad">it is wrong</span>`) {
			s.Errorf("%s; want %s", got, want)
		}
	})
}
