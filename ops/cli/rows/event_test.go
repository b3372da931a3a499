package rows_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

const signingKey = "raw:a key of more than 16 bytes"

// From an INSERT to a webhook: the task's tick becomes an event, which the relay
// posts, signed.
func TestRelayPostsTheEventsOfTasks(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		type delivery struct {
			header http.Header
			body   []byte
		}
		deliveries := make(chan delivery, 10)
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			deliveries <- delivery{r.Header, body}
		}))
		defer receiver.Close()
		s.Exec(t, `INSERT INTO periodic_task (id, task, group_, args, timer, sink, catchup, nextrun)
			VALUES ('invoice-run', 'invoice.due', 'billing', '{"kind": "monthly"}', '*-*-01 06:00', 'event', 'none', '2026-01-01 06:00:00')`)
		s.Must(t, "scheduler", "--once")
		s.Env["NEXTRUN_CONFIG"] = clitest.WriteFile(t, "relay.yaml", "relay:\n  source: /shop\n  topics:\n    billing:\n      webhook: {url: '"+receiver.URL+"', secret: '${KEY}'}\n")
		s.Says(t, ui.Failed, "relay", "relay.topics.billing", "KEY")
		s.Env["KEY"] = signingKey
		relay := s.Start(t, "relay")
		var got delivery
		select {
		case got = <-deliveries:
		case exit := <-relay.Exit:
			t.Fatalf("the relay ended with exit code %d", exit)
		}
		if err := webhook.Verify(got.header, got.body, time.Now(), time.Minute, signingKey); err != nil {
			t.Errorf("the signature: %v", err)
		}
		var event struct{ Source, Type, Subject, Due, Data any }
		if err := json.Unmarshal(got.body, &event); err != nil {
			t.Fatal(err)
		}
		if event.Source != "/shop" || event.Type != "invoice.due" || event.Subject != "invoice-run" ||
			event.Due != "2026-01-01T06:00:00.000000Z" || event.Data.(map[string]any)["kind"] != "monthly" {
			t.Errorf("the event is %s", got.body)
		}
		relay.Stop()
		if exit := <-relay.Exit; exit != ui.Done {
			t.Errorf("exit code %d", exit)
		}
		var listed []struct{ ID, Status, Topic, Payload string }
		s.JSON(t, &listed, "event", "list", "--task", "invoice-run")
		if want := `{"kind": "monthly"}`; len(listed) != 1 || listed[0].ID != got.header.Get(webhook.HeaderID) || listed[0].Status != "published" || listed[0].Topic != "billing" || listed[0].Payload != want {
			t.Errorf("listed are %+v, want the event that was published", listed)
		}
	})
}

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
