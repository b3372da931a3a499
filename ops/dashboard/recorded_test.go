package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// Whatever somebody does is recorded with who and when, in the transaction that does it.
func TestActionsAreRecorded(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('report', 'work', '*-*-* 02:00', '2026-01-01 08:00:00')`)
		s.history(1, func(context.Context, *jobqueue.JobContext) error { return jobqueue.Permanent(errors.New("no")) })
		s.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 't', 'y', 'a', 1)`)
		var jobs struct{ Jobs []struct{ JID string } }
		s.data("/jobs?format=json", &jobs)
		jid := jobs.Jobs[0].JID
		for _, a := range []struct {
			path string
			form url.Values
		}{
			{"/tasks", url.Values{"action": {"pause"}, "id": {"report"}, "reason": {"moving"}}},
			{"/tasks", url.Values{"action": {"resume"}, "id": {"report"}}},
			{"/task", url.Values{"id": {"report"}, "was": {"*-*-* 02:00"}, "timer": {"*-*-* 03:00"}}},
			{"/tasks", url.Values{"action": {"run"}, "id": {"report"}}},
			{"/tasks", url.Values{"action": {"skip"}, "id": {"report"}}},
			{"/tasks", url.Values{"action": {"unskip"}, "id": {"report"}}},
			{"/job", url.Values{"action": {"retry"}, "id": {jid}}},
			{"/job", url.Values{"action": {"cancel"}, "id": {jid}}},
			{"/events", url.Values{"action": {"resend"}, "id": {"e"}}},
			{"/tasks", url.Values{"action": {"skip"}, "id": {"nobody", "report"}}}, // of nobody nothing is recorded
		} {
			if code, _, body := s.ask(s.request(http.MethodPost, a.path, a.form)); code != http.StatusSeeOther {
				s.Errorf("%s %v: %d %s", a.path, a.form, code, body)
			}
		}
		s.Want(10, `SELECT count(*) FROM periodic_action WHERE who = 'ada'`)
		s.Want(9, `SELECT count(*) FROM periodic_action WHERE task_id = 'report'`)
		s.Want(1, `SELECT count(*) FROM periodic_action WHERE action = 'resend' AND jid = 'e'`)
		for path, wants := range map[string][]string{
			"/task?id=report": {">pause</td>", "moving", ">resume</td>", "timer from &#34;*-*-* 02:00&#34; to &#34;*-*-* 03:00&#34;", ">run</td>", ">skip</td>", ">unskip</td>", ">retry</td>", ">cancel</td>"},
			"/job?id=" + jid:  {">retry</td>", ">cancel</td>", ">ada</td>"},
			"/scheduler":      {">resend</td>"},
		} {
			page := s.get(path)
			for _, want := range wants {
				if !strings.Contains(page, want) {
					s.Errorf("%s lacks %q", path, want)
				}
			}
		}
	})
}
