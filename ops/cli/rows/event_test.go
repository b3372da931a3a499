package rows_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestEventCommands(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "event list", "none; a task with the sink event makes them")
		for _, id := range []string{"e1", "e2", "e3"} {
			s.Exec(t, `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload)
				VALUES ('`+id+`', 'billing', 'paid', 'a`+id+`', 1, '{"n":1}')`)
			s.Exec(t, `INSERT INTO outbox_message (event_id, topic) VALUES ('`+id+`', 'billing')`)
		}
		s.Exec(t, `UPDATE outbox_message SET dead = created, problem = 'no such account' WHERE event_id = 'e1'`)
		s.Exec(t, `UPDATE outbox_message SET published = created WHERE event_id = 'e2'`)
		for _, flag := range []string{"--status gone", "--topic nosuch", "--since tomorrow"} {
			s.Says(t, ui.Done, "event list "+flag, "none of that kind")
		}
		s.Says(t, ui.Done, "event list --status dead", "EVENT TOPIC TYPE AGGREGATE VERSION CREATED STATUS", "e1 billing paid ae1 1 ")
		var listed []struct{ ID, Status string }
		if s.JSON(t, &listed, "event", "list", "--topic", "billing", "-n", "2"); len(listed) != 2 || listed[0].ID != "e3" || listed[1].Status != "published" {
			t.Errorf("listed %+v, want the newest two", listed)
		}
		s.Says(t, ui.Done, "event resend --dead billing", "to be published again: 1")
		s.Says(t, ui.Failed, "event resend e2 unknown", "unknown", "not found")
		s.Says(t, ui.Done, "event resend e2", "to be published again: 1")
		if s.JSON(t, &listed, "event", "list", "--status", "pending"); len(listed) != 3 {
			t.Errorf("pending after resend: %+v", listed)
		}
		s.Says(t, ui.WrongUsage, "event resend", "--dead")
		s.Says(t, ui.WrongUsage, "relay", "relay.topics")
	})
}
