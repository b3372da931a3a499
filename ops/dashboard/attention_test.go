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

// hours adds ticks of each hour, the newest first: success, failed, missed, skipped since a job ran, and paused.
func (s *site) hours(id, newest string, now time.Time) {
	s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES (?, 'work', 'hourly', '2099-01-01 00:00:00')`, id)
	for i, what := range newest {
		due := now.Truncate(time.Hour).Add(-time.Duration(i+1) * time.Hour)
		decided := func(decision, cause, reason string) {
			s.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, cause, reason) VALUES (?, ?, ?, ?, ?, ?)`, id, sqldb.Timestamp(due), decision, sqldb.Timestamp(due), cause, reason)
		}
		switch what {
		case '.':
			s.ran(id, due, time.Second, "success")
		case 'f':
			s.ran(id, due, time.Second, "failed")
		case 'm':
			decided("missed", "newest", "")
		case 's':
			decided("skipped", "overlap", "")
		case 'p':
			decided("skipped", "paused", "ada")
		}
	}
}

// A task needs attention while the newest tick that ended did not end well, or no run has succeeded in time; one that has recovered
// does not, nor one that is paused or skipped now and then. The page, the list and why agree.
func TestNowFindsWhatNeedsAttention(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		now := time.Now().UTC()
		cases := []struct{ id, newest, cause string }{
			{"a-failing", "fffff.fffff", "failed 5 times in a row, since "},
			{"b-missed", "sm.f.", "missed"},
			{"c-losing", ".s.s.s.s.s.s", ""},
			{"d-lost", "ssssssss.", "no run has succeeded since "},
			{"e-fine", "............", ""},
			{"f-recovered", ".fffffffff", ""},
			{"g-never", "sss", "no run has succeeded yet; one was due "},
			{"i-paused", "pppp.pppp", ""},
		}
		var want, got, listed []string
		for _, c := range cases {
			s.hours(c.id, c.newest, now)
			if c.cause != "" {
				want = append(want, c.id)
			}
			var why struct{ Why struct{ Attention string } }
			if s.data("/task?format=json&id="+c.id, &why); (why.Why.Attention != "") != (c.cause != "") {
				s.Errorf("%s: the page of the task says %q", c.id, why.Why.Attention)
			}
		}
		var d struct {
			Troubled []struct {
				ID    string
				Words string `json:"attention_in_words"`
			}
		}
		s.data("/?format=json", &d)
		for _, one := range d.Troubled {
			got = append(got, one.ID)
			at := slices.IndexFunc(cases, func(c struct{ id, newest, cause string }) bool { return c.id == one.ID })
			if !strings.HasPrefix(one.Words, cases[at].cause) {
				s.Errorf("%s: the page says %q, want %q", one.ID, one.Words, cases[at].cause)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			s.Errorf("the page has %q, want %q", got, want)
		}
		var list struct{ Tasks []struct{ ID string } }
		s.data("/tasks?state=attention&format=json", &list)
		for _, one := range list.Tasks {
			listed = append(listed, one.ID)
		}
		if !slices.Equal(listed, want) {
			s.Errorf("the list has %q", listed)
		}
	})
}

// Since when a task fails is known beyond what a strip shows, and whether it has ever succeeded.
func TestNowSaysSinceWhenTasksFail(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		now := time.Now().UTC()
		s.hours("never", strings.Repeat("f", 30), now)
		s.hours("once", strings.Repeat("f", 20)+"s.f", now)
		jid := s.One(`SELECT jid FROM periodic_tick WHERE task_id = 'once' ORDER BY due DESC LIMIT 1`)
		for i, line := range []string{"attempt 1 begins on vm", "GET /balance: 503 Service Unavailable", "failed: exit status 1"} {
			s.Exec(`INSERT INTO joblog (id, jid, level, created, message, counter) VALUES (?, ?, 'info', '2026-01-01 00:00:00', ?, ?)`, fmt.Sprint(i), jid, line, i)
		}
		at := func(hours int) string {
			return now.Truncate(time.Hour).Add(-time.Duration(hours) * time.Hour).Format("15:04")
		}
		page := s.get("/")
		for _, want := range []string{"failed 30 times in a row, since ", at(30) + " or earlier; no success is recorded", "failed 20 times in a row, since ",
			at(20) + "; the last success was that of ", at(22), "<code>GET /balance: 503 Service Unavailable</code>"} {
			if !strings.Contains(page, want) {
				s.Errorf("the page lacks %q", want)
			}
		}
		if page := s.get("/task?id=never"); !strings.Contains(page, "It has failed 30 times in a row, since ") {
			s.Error("the page of the task does not say since when it fails")
		}
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

// An alarm that does not get out is trouble, more than an event of somebody else.
func TestNowNamesWhatDoesNotGetOut(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`UPDATE periodic_task SET nextrun = '2099-01-01 00:00:00'`)
		s.hours("fine", "...", time.Now().UTC())
		for topic, created := range map[string]time.Duration{"orders": time.Hour, "new": time.Second} {
			at := sqldb.Timestamp(time.Now().Add(-created))
			s.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, created) VALUES (?, ?, 'x', ?, 1, ?)`, topic, topic, topic, at)
			s.Exec(`INSERT INTO outbox_message (event_id, topic, created) VALUES (?, ?, ?)`, topic, topic, at)
		}
		s.Exec(`INSERT INTO job (jid, task, group_, subject, state, retry, result, submitted)
			VALUES ('h', 'nextrun.hook', 'nextrun.hooks', 'failure of pay', 'stuck', '2099-01-01 00:00:00', 'connection refused', ?)`, sqldb.Timestamp(time.Now().Add(-time.Hour)))
		var d struct {
			Sentence    string
			Undelivered []struct{ Topic, Why string }
		}
		s.data("/?format=json", &d)
		want := "[{nextrun.hooks failure of pay: connection refused} {orders no relay has this topic}]"
		if got := fmt.Sprint(d.Undelivered); got != want || d.Sentence != "Events of 2 topics do not get out" {
			s.Errorf("%s, %q", got, d.Sentence)
		}
		if page := s.get("/"); !strings.Contains(page, "Messages of hooks: 1 job do not get out since") {
			s.Error("the page does not say that an alarm does not get out")
		}
	})
}
