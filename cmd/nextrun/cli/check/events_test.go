package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/clitest"
)

// Events that wait for a relay are named by their topic, those of hooks together, and those that have just been
// written, or are refused, are not.
func TestCheckEvents(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for _, e := range []struct{ topic, rest string }{
			{"orders", "NULL"}, {"refused", "'no answer'"}, {"nextrun.hooks/ping/a", "NULL"}, {"nextrun.hooks/ping/b", "NULL"}, {"new", "NULL"},
		} {
			s.Exec(t, `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('`+e.topic+`', '`+e.topic+`', 'x', '`+e.topic+`', 1)`)
			s.Exec(t, `INSERT INTO outbox_message (event_id, topic, problem) VALUES ('`+e.topic+`', '`+e.topic+`', `+e.rest+`)`)
		}
		s.Exec(t, `UPDATE outbox_message SET created = '2026-01-01 00:00:00.000000' WHERE topic <> 'new'`)
		out := strings.Join(strings.Fields(s.Run(t.Context(), "check").Stdout), " ")
		for _, want := range []string{"topic orders events that wait: 1, the oldest for ", "hooks events that wait for delivery: 2; no relay has their topics now."} {
			if !strings.Contains(out, want) {
				t.Errorf("check does not say %q: %s", want, out)
			}
		}
		for _, false_ := range []string{"topic refused", "topic new"} {
			if strings.Contains(out, false_) {
				t.Errorf("check says %q: %s", false_, out)
			}
		}
	})
}
