package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

const signingKey = "a key of more than 16 bytes"

// From an INSERT to a webhook: the task's tick becomes an event, which the relay
// posts, signed.
func TestRelayPostsTheEventsOfTasks(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
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
		s.exec(t, `INSERT INTO periodic_task (id, task, group_, args, timer, sink, catchup, nextrun)
			VALUES ('invoice-run', 'invoice.due', 'billing', '{"kind": "monthly"}', '*-*-01 06:00', 'event', 'none', '2026-01-01 06:00:00')`)
		s.exec(t, `INSERT INTO periodic_task (id, task, group_, timer, sink, catchup, nextrun)
			VALUES ('note', 'noted', 'audit', '*-*-01 06:00', 'event', 'none', '2026-01-01 06:00:00')`)
		s.must(t, "scheduler", "--once")
		wantLines(t, s.must(t, "event", "lag"), "audit 1 now 0 no", "billing 1 now 0 no")

		file := filepath.Join(t.TempDir(), "relay.yaml")
		text := "relay:\n  source: /shop\n  topics:\n    billing:\n      webhook: {url: '" + receiver.URL + "', secret_env: KEY}\n    audit: {table: true}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.env["NEXTRUN_CONFIG"] = file
		s.fails(t, cli.Failed, []string{"relay"}, "relay.topics.billing", "KEY")
		s.env["KEY"] = signingKey
		relay := s.start(t, "relay")
		got := <-deliveries
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
		relay.stop()
		if exit := <-relay.exit; exit != cli.Done {
			t.Errorf("exit code %d", exit)
		}
		wantLines(t, s.must(t, "event", "list"), "EVENT TOPIC TYPE AGGREGATE VERSION CREATED STATUS")
		id := got.header.Get(webhook.HeaderID)
		wantLines(t, s.must(t, "event", "show", id), "event "+id, "status published", "topic billing", `payload {"kind": "monthly"}`)
	})
}

func TestEventCommands(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		if got := s.must(t, "event", "list") + s.must(t, "event", "lag") + s.must(t, "event", "tail"); got != "none\nnone\n" {
			t.Errorf("without events: %q", got)
		}
		for _, id := range []string{"e1", "e2", "e3"} {
			s.exec(t, `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload)
				VALUES ('`+id+`', 'billing', 'paid', 'a`+id+`', 1, '{"n":1}')`)
			s.exec(t, `INSERT INTO outbox_message (event_id, topic) VALUES ('`+id+`', 'billing')`)
		}
		s.exec(t, `UPDATE outbox_message SET dead = created, problem = 'no such account' WHERE event_id = 'e1'`)
		s.exec(t, `UPDATE outbox_message SET published = created WHERE event_id = 'e2'`)
		wantLines(t, s.must(t, "event", "list", "--status", "dead"), "e1 billing paid ae1 1 now dead 0 no such account")
		var listed []struct{ ID, Status string }
		s.json(t, &listed, "event", "list", "--topic", "billing", "-n", "2")
		if len(listed) != 2 || listed[0].ID != "e3" || listed[1].Status != "published" {
			t.Errorf("listed %+v, want the newest two", listed)
		}
		var lag []struct{ Pending, Dead int }
		s.json(t, &lag, "event", "lag")
		if len(lag) != 1 || lag[0].Pending != 1 || lag[0].Dead != 1 {
			t.Errorf("lag %+v", lag)
		}
		lines := strings.Split(strings.TrimSpace(s.must(t, "event", "tail", "-n", "2", "--json")), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], `"id":"e2"`) || !strings.Contains(lines[1], `"position":3`) {
			t.Errorf("tail gave %q", lines)
		}
		if got := s.must(t, "event", "resend", "--dead", "billing"); got != "to be published again: 1\n" {
			t.Errorf("resend --dead: %q", got)
		}
		s.fails(t, cli.Failed, []string{"event", "resend", "e2", "unknown"}, "unknown", "not found")
		var pending []struct{ ID string }
		s.json(t, &pending, "event", "list", "--status", "pending")
		if len(pending) != 3 {
			t.Errorf("pending after resend: %+v", pending)
		}
		wantLines(t, s.must(t, "event", "strict", "billing"), "a dead event stops billing")
		shown := s.must(t, "event", "lag")
		if wantLines(t, shown, "billing 3 "); !strings.Contains(strings.Join(strings.Fields(shown), " "), " 0 yes ") {
			t.Errorf("no dead event, and a strict topic, expected in\n%s", shown)
		}
		s.fails(t, cli.Failed, []string{"event", "show", "unknown"}, "not found", "nextrun event list")
		s.fails(t, cli.WrongUsage, []string{"event", "resend"}, "--dead")
		s.fails(t, cli.WrongUsage, []string{"relay"}, "relay.topics")
	})
}

func TestTailFollows(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		ctx, stop := context.WithCancel(t.Context())
		read, write := io.Pipe()
		exit := make(chan int, 1)
		go func() {
			exit <- cli.Run(ctx, []string{"event", "tail", "--follow", "--json"}, nil, write, io.Discard,
				func(name string) string { return s.env[name] })
			_ = write.Close()
		}()
		decoder := json.NewDecoder(read)
		for _, id := range []string{"e1", "e2"} {
			s.exec(t, `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version)
				VALUES ('`+id+`', 'topic of `+id+`', 'x', '`+id+`', 1)`)
			var event struct{ ID string }
			if err := decoder.Decode(&event); err != nil || event.ID != id {
				t.Errorf("got %+v, %v; want %s", event, err, id)
			}
		}
		stop()
		if code := <-exit; code != cli.Done {
			t.Errorf("exit code %d", code)
		}
	})
}
