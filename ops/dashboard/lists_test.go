package dashboard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// A job whose worker is silent says so, and a long list has pages.
func TestJobsArePaged(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('bad', 'work', 'hourly'), ('worse', 'work', 'hourly')`)
		now := time.Now().Truncate(time.Second).Add(-30 * time.Second) // so that none ends just an hour ago
		for i := range 90 {
			s.ran("worse", now.Add(-time.Duration(i+1)*time.Minute), time.Second, []string{"failed", "success"}[i%2])
			if i < 20 {
				s.ran("bad", now.Add(-time.Duration(i+1)*time.Minute), time.Second, "failed")
			}
		}
		s.ran("bad", now.AddDate(0, 0, -8), time.Second, "failed")
		var d struct {
			Jobs []struct{ JID string }
			More bool
		}
		s.Exec("INSERT INTO job (jid, task, state, worker, submitted, started) VALUES ('lost', 'work', 'running', 'vm@x', ?, ?)",
			sqldb.Timestamp(now), sqldb.Timestamp(now))
		s.Exec("INSERT INTO worker (id, kind, version, started, seen) VALUES ('vm@x', 'executor', 'v', ?, ?)",
			sqldb.Timestamp(now), sqldb.Timestamp(now.Add(-3*time.Minute)))
		if page := s.get("/jobs?state=running"); !strings.Contains(page, "no sign of life for 3 min") {
			s.Errorf("a job whose worker is silent looks like any other:\n%s", page)
		}
		s.Exec("DELETE FROM job WHERE jid = 'lost'")
		seen := map[string]bool{}
		for _, page := range []string{"1", "2"} {
			s.data("/jobs?format=json&page="+page, &d)
			for _, j := range d.Jobs {
				seen[j.JID] = true
			}
			if d.More != (page == "1") {
				s.Errorf("page %s says that there are more: %v", page, d.More)
			}
		}
		if len(seen) != 111 {
			s.Errorf("two pages have %d of 111 jobs", len(seen))
		}
		first, second := s.get("/jobs?state=failed&task=bad"), s.get("/jobs?page=2")
		if !strings.Contains(s.get("/jobs"), `href="/jobs?page=2">older`) || !strings.Contains(second, `href="/jobs?page=1">← newer`) || strings.Contains(first, "older →") {
			s.Error("a link to another page is missing, or leads nowhere")
		}
		if !strings.Contains(first, `href="/jobs?state=failed" aria-current="true"`) {
			s.Error("the counts are no links")
		}
		// Those that ended in the last hour come by when they ended, however long ago they were submitted.
		s.ran("bad", now.Add(-5*time.Hour), 5*time.Hour-time.Second, "success")
		s.data("/jobs?format=json&ended=hour&state=success", &d)
		if len(d.Jobs) != 30 || !strings.HasPrefix(d.Jobs[0].JID, "bad"+now.Add(-5*time.Hour).UTC().Format(time.RFC3339)) {
			s.Errorf("in the last hour, %d jobs ended well: %+v", len(d.Jobs), d.Jobs)
		}
		if page := s.get("/jobs?ended=hour"); !strings.Contains(page, `aria-current="true" title="what ended in it">last hour</a>`) || !strings.Contains(page, `>Ended</th>`) || strings.Contains(page, "What failed most") {
			s.Error("the list of what ended in the last hour does not say so")
		}
	})
}

// The page of events says what to do about a topic that nobody publishes.
func TestEventsSayWhatToDo(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		old := sqldb.Timestamp(time.Now().Add(-time.Hour))
		for i, topic := range []string{"reports", "mail"} {
			id := fmt.Sprintf("01a2135a-f0dd-75af-86c6-a11c86d85e%02d", i)
			s.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload, created) VALUES (?, ?, 'x', ?, 1, '{}', ?)`, id, topic, id, old)
			s.Exec(`INSERT INTO outbox_message (event_id, topic, created) VALUES (?, ?, ?)`, id, topic, old)
		}
		s.Exec(`UPDATE outbox_message SET problem = 'connection refused', attempts = 3, retry = ? WHERE topic <> 'reports'`, sqldb.Timestamp(time.Now().Add(-10*time.Minute)))
		page := s.get("/events")
		for _, want := range []string{"No relay publishes this topic.", "…86d85e00", "connection refused; no relay has tried it again for 10 min"} {
			if !strings.Contains(page, want) {
				s.Errorf("lacks %q", want)
			}
		}
		if code, _, body := s.ask(s.request("GET", "/events?status=failed", nil)); code != 400 || !strings.Contains(body, "use one of") {
			s.Errorf("a status that there is not: %d", code)
		}
	})
}
