package dashboard_test

import (
	"fmt"
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
