package dashboard_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/dashboard"
)

// The page of the system has a row for each process that runs, and for those that have gone without a word.
func TestProcesses(t *testing.T) {
	both(t, dashboard.Options{}, func(s *site) {
		type process struct {
			Name     string
			Parts    []string
			Version  string
			Places   int
			Handlers []string
		}
		var d struct{ Processes []process }
		s.shows("/system", "No process runs")
		now := time.Now()
		const insert = `INSERT INTO worker (id, kind, version, started, seen, places, handlers) VALUES `
		for i, row := range []string{`('vm@abcdef012345', 'executor', 'v1.2.3', ?, ?, 10, '[{"name": "mail", "attempts": 6}]')`, `('vm@0000000000aa', 'scheduler', 'v1.2.3', ?, ?, NULL, NULL)`,
			`('web@0000000000aa', 'scheduler', 'v1.2.3', ?, ?, NULL, NULL)`, `('killed@1', 'executor', 'v1', ?, ?, 10, '[]')`} {
			s.Exec(insert+row, sqldb.Timestamp(now), sqldb.Timestamp(now.Add(-[]time.Duration{0, 0, 0, 3 * time.Minute}[i])))
		}
		s.data("/system?format=json", &d)
		want := []process{{"killed", []string{"executor"}, "v1", 10, nil}, {"vm", []string{"scheduler", "executor"}, "v1.2.3", 10, []string{"mail"}}, {"web", []string{"scheduler"}, "v1.2.3", 0, nil}}
		if !reflect.DeepEqual(d.Processes, want) {
			s.Errorf("the processes are %+v, want %+v", d.Processes, want)
		}
		s.shows("/system", "vm scheduler, executor 10 places mail v1.2.3", "0 of 10 places taken", "killed no sign of life for 3 min")
	})
}

// The page of the system says what to do about a topic that nobody publishes, and sends events again.
func TestEventsSayWhatToDo(t *testing.T) {
	both(t, dashboard.Options{Authorize: may}, func(s *site) {
		old := sqldb.Timestamp(time.Now().Add(-time.Hour))
		for i, topic := range []string{"reports", "mail", "lost"} {
			id := fmt.Sprintf("01a2135a-f0dd-75af-86c6-a11c86d85e%02d", i)
			s.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload, created) VALUES (?, ?, 'x', ?, 1, '{}', ?)`, id, topic, id, old)
			s.Exec(`INSERT INTO outbox_message (event_id, topic, created) VALUES (?, ?, ?)`, id, topic, old)
		}
		s.Exec(`UPDATE outbox_message SET problem = 'connection refused', attempts = 3, retry = ? WHERE topic = 'mail'`, sqldb.Timestamp(time.Now().Add(-10*time.Minute)))
		s.Exec(`UPDATE outbox_message SET dead = '2026-01-01 00:00:00' WHERE topic = 'lost'`)
		s.shows("/system", "No relay publishes this topic.", "connection refused; no relay has tried it again for 10 min")
		s.shows("/system?topic=lost", `value="01a2135a-f0dd-75af-86c6-a11c86d85e02"`, `!value="01a2135a-f0dd-75af-86c6-a11c86d85e00"`)
		s.post("/system", map[string][]string{"action": {"resend-dead"}, "topic": {"lost"}}, "/system?done=Events+that+are+sent+again%3A+1.&topic=lost")
		s.shows("/system?topic=lost", "lost 1 1 h ago 0")
	})
}
