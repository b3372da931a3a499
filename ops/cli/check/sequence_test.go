package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// After logical replication a sequence is behind its table: that is named with the remedy, which sets it right.
func TestSequenceBehindItsTable(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": d.URL}}
	d.Exec(`INSERT INTO event_store (id, seq, topic, type, aggregate_id, aggregate_version) VALUES ('old', 1, 'a', 'b', 'c', 1);
		INSERT INTO outbox_message (id, event_id, topic) VALUES (1, 'old', 'a')`)
	s.Says(t, ui.Changes, "check", "setval(pg_get_serial_sequence('outbox_message', 'id'), (SELECT max(id) FROM outbox_message))",
		"setval(pg_get_serial_sequence('event_store', 'seq')")
	d.Exec(`SELECT setval(pg_get_serial_sequence('outbox_message', 'id'), (SELECT max(id) FROM outbox_message));
		SELECT setval(pg_get_serial_sequence('event_store', 'seq'), (SELECT max(seq) FROM event_store))`)
	if got := s.Run(t.Context(), "check"); strings.Contains(got.Stdout, "setval") {
		t.Errorf("check still names a sequence:\n%s", got.Stdout)
	}
}
