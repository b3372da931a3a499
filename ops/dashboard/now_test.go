package dashboard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
)

type nowData struct {
	Totals struct {
		Troubled int `json:"need_attention"`
	}
	Troubled []struct {
		ID    string
		Wrong struct{ State string }
	}
	Others   int `json:"troubled_not_listed"`
	Sentence string
	Strips   []struct {
		Day []struct{ Worst string }
	}
}

// The first page finds what fails among all tasks, and says how many it does not list.
func TestNowLooksAtAllTasks(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO worker (id, kind, version, started, seen) VALUES ('a@1', 'scheduler', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00')`)
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
		if d.Totals.Troubled != 41 || len(d.Troubled) != 30 || d.Others != 11 || d.Troubled[1].Wrong.State != "failed" {
			s.Errorf("%+v", d)
		}
		page := s.get("/")
		for _, want := range []string{"41 of 120 tasks need attention", "and 11 more"} {
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

// The worst comes first, whatever its id: what has never run is missed by nobody yet. What people can do about it stands beside it.
func TestNowSortsByHarm(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		now := time.Now().UTC().Truncate(time.Second)
		for _, id := range []string{"a-warned", "b-missed", "c-failed-once", "d-failed-often", "e-failed-important", "f-blocked", "g-overdue", "h-fine", "i-mistyped"} {
			s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun, priority) VALUES (?, 'work', 'hourly', '2099-01-01 00:00:00', ?)`, id, map[bool]int{true: 9, false: 5}[strings.Contains(id, "important")])
		}
		s.Exec(`UPDATE periodic_task SET problem = 'warning: the args are odd' WHERE id = 'a-warned'`)
		s.Exec(`UPDATE periodic_task SET timer = 'Mun' WHERE id IN ('f-blocked', 'i-mistyped')`)
		s.Exec(`UPDATE periodic_task SET problem = 'timer "Mun": unknown' WHERE id IN ('f-blocked', 'i-mistyped')`)
		s.Exec(`UPDATE periodic_task SET nextrun = ? WHERE id = 'g-overdue'`, sqldb.Timestamp(now.Add(-time.Minute)))
		s.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00' WHERE id = 'g-overdue'`)
		s.Exec(`INSERT INTO worker (id, kind, version, started, seen) VALUES ('a@1', 'scheduler', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00')`)
		s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, missed) VALUES ('b-missed', ?, 'missed', ?, 7)`, sqldb.Timestamp(now.Add(-time.Hour)), sqldb.Timestamp(now))
		for n, id := range []string{"d-failed-often", "d-failed-often", "d-failed-often", "c-failed-once", "e-failed-important"} {
			s.ran(id, now.Add(-2*time.Hour+time.Duration(n)*time.Second), time.Second, "failed")
		}
		s.ran("f-blocked", now.Add(-30*time.Hour), time.Second, "success")
		s.ran("h-fine", now.Add(-3*time.Hour), time.Second, "success")
		s.ran("h-fine", now.Add(-25*time.Hour), time.Second, "failed")
		var d nowData
		s.data("/?format=json", &d)
		var ids []string
		for _, one := range d.Troubled {
			ids = append(ids, one.ID)
		}
		want := []string{"g-overdue", "f-blocked", "e-failed-important", "d-failed-often", "c-failed-once", "i-mistyped", "b-missed", "a-warned"}
		if !slices.Equal(ids, want) || d.Sentence != "8 of 9 tasks need attention" {
			s.Errorf("%q: %v", d.Sentence, ids)
		}
		if len(d.Strips) != 1 || len(d.Strips[0].Day) != 1 || d.Strips[0].Day[0].Worst != "success" {
			s.Errorf("the strips are %+v", d.Strips)
		}
		page := s.get("/")
		for _, text := range []string{"failed 3 times in a row", "Change its timer", `aria-label="Run now: b-missed"`, "due for 1 min", "<title>8 of 9 tasks need attention", ": 7, the worst missed</title><path class=\"warn\"", ": failed</title><path class=\"bad\""} {
			if !strings.Contains(page, text) {
				s.Errorf("the page lacks %q", text)
			}
		}
		if strings.Contains(page, `aria-label="Run now: f-blocked"`) {
			s.Error("a task that cannot run can be run")
		}
	})
}

// The first page of a new database says what to do, and raises no alarm. Then it names what is missing, one after the other.
func TestSentencesOfNow(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		says := func(sentence string, texts ...string) (page string) {
			s.Helper()
			var d nowData
			s.data("/?format=json", &d)
			page = s.get("/")
			for _, want := range texts {
				if d.Sentence != sentence || !strings.Contains(page, want) {
					s.Errorf("it says %q, want %q and %q in:\n%s", d.Sentence, sentence, want, page)
				}
			}
			return page
		}
		if page := says("No tasks yet", "Add the first one:", "No scheduler is known to run"); strings.Contains(page, `role="alert"`) || strings.Contains(page, `class="bad"`) {
			s.Error("a new database is an alarm")
		}
		s.Exec(`INSERT INTO periodic_task (id, task, timer, created, nextrun) VALUES ('t', 'work', 'hourly', '2026-01-01 00:00:00', '2026-01-01 00:00:00')`)
		s.Exec(`UPDATE periodic_task SET since = '2026-01-01 00:00:00'`)
		s.ran("t", time.Now().Add(-time.Hour), time.Second, "success")
		says("No scheduler runs, and 1 task is due", `role="alert"`)
		s.Exec(`UPDATE periodic_task SET nextrun = '2099-01-01 00:00:00'`)
		says("No scheduler is known to run", "so what falls due waits")
		s.Exec(`INSERT INTO worker (id, kind, version, started, seen) VALUES ('a@1', 'scheduler', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00')`)
		says("The task is on time", "")
		s.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 't', 'x', 'a', 1)`)
		s.Exec(`INSERT INTO outbox_message (event_id, topic, dead) VALUES ('e', 't', '2026-01-01 00:00:00')`)
		says("Events of 1 topic do not get out", `href="/events?status=dead">1 dead event</a>`)
		s.Exec(`DELETE FROM outbox_message`)
		s.Exec(`INSERT INTO job (jid, task, submitted) VALUES ('j', 'work', ?)`, sqldb.Timestamp(time.Now().Add(-31*time.Minute)))
		says("1 job is waiting, and no executor is known to run", "")
		s.Exec(`INSERT INTO worker (id, kind, version, started, seen, places, handlers) VALUES ('e@1', 'executor', 'v1', '2026-01-01 00:00:00', '2999-01-01 00:00:00', 4, '[]')`)
		says("1 job is waiting, the oldest for 31 min", "0 of 4 places are taken, on 1 executor.")
	})
}

// Each task is in one state, the states add up, and each leads to as many tasks.
func TestNowAddsUp(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		for id, set := range map[string]string{"a": "enabled = true", "b": "enabled = true", "c": "paused = '2026-01-01 00:00:00'", "d": "problem = 'wrong'", "e": "enabled = false",
			"f": "problem = 'warning: odd'", "g": "enabled = false, problem = 'wrong'", "h": "paused = '2026-01-01 00:00:00'"} {
			s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES (?, 'work', 'hourly', '2099-01-01 00:00:00')`, id)
			s.Exec(`UPDATE periodic_task SET `+set+` WHERE id = ?`, id)
		}
		s.Exec(`UPDATE periodic_task SET problem = 'wrong' WHERE id = 'h'`) // an edit, such as a pause, clears it
		page, all := s.get("/"), 0
		for state, want := range map[string]int{"enabled": 3, "paused": 1, "blocked": 2, "disabled": 2} {
			var list struct{ Tasks []struct{ ID string } }
			s.data("/tasks?format=json&state="+state, &list)
			if len(list.Tasks) != want || !strings.Contains(page, fmt.Sprintf(`state=%s">%d %s</a>`, state, want, state)) {
				s.Errorf("%s: the list has %d", state, len(list.Tasks))
			}
			all += len(list.Tasks)
		}
		if all != 8 || !strings.Contains(page, ">8 tasks</a>") {
			s.Errorf("%d tasks", all)
		}
	})
}
