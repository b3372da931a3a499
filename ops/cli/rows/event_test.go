package rows_test

import (
	"testing"
	"time"

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
		s.Says(t, ui.Failed, "relay", "relay.topics")
	})
}

// What was left out over all tasks is one list, by when the ticks were due; what somebody has asked for is marked.
func TestTickList(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "a", "--handler", "t", "--timer", "2099-01-01", "--group", "night")
		s.Must(t, "task", "run", "a")
		s.Exec(t, "UPDATE periodic_task SET nextrun = '"+time.Now().UTC().Add(-time.Minute).Format("2006-01-02 15:04:05")+"' WHERE id = 'a'")
		s.Must(t, "scheduler", "--once")
		s.Must(t, "task", "add", "idle", "--handler", "t", "--timer", "2099-01-01", "--group", "day")
		for task, decision := range map[string]string{"a": "late", "gone": "skipped", "other": "submitted"} {
			s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('`+task+`', '2026-03-02 02:00:00.000000', '`+decision+`', '2026-03-02 09:00:00.000000')`)
		}
		s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, decided, missed, until) VALUES ('b', '2026-03-01 20:00:00.000000', 'missed', '2026-03-02 09:00:00.000000', 9, '2026-03-02 04:00:00.000000')`)
		type tick struct {
			Decision, Cause string
			Hand            *string `json:"by_hand"`
		}
		list := func(want int, args ...string) (ticks []tick) {
			t.Helper()
			if s.JSON(t, &ticks, append([]string{"tick", "list"}, args...)...); len(ticks) != want {
				t.Fatalf("%v: %+v, want %d", args, ticks, want)
			}
			return ticks
		}
		night := []string{"--decision", "not-run", "--since", "2026-03-02T00:00:00Z", "--until", "2026-03-02T08:00:00Z"}
		list(3, night...)
		list(1, append(night, "--group", "night")...)
		list(0, append(night, "--group", "day")...)
		list(3, "--group", "night")
		list(0, "--task", "a", "--group", "day")
		list(0, "--since", "tomorrow")
		if ticks := list(2, "--task", "a", "--since", "24h"); ticks[1].Decision != "skipped" || ticks[1].Cause != "overlap" {
			t.Errorf("got %+v, want one skipped because of the job of the other", ticks)
		}
		if ticks := list(1, "--decision", "submitted", "--task", "a"); ticks[0].Hand == nil || *ticks[0].Hand != "run by hand" {
			t.Errorf("the tick that was run by hand is %+v", ticks)
		}
		s.Exec(t, `UPDATE job SET state = 'failed', finished = submitted, result = 'no disk'`)
		s.Says(t, ui.Done, "tick list", "DUE TASK OUTCOME JOB REASON", "run by hand; no disk")
	})
}
