package queues_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/store/queues"
)

// A statement that cannot tell how jobs end is a warning about the queue, which takes jobs
// nevertheless.
func TestSQLWithABadOutcome(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		for statement, want := range map[string]string{
			`SELECT ref, nonsense AS outcome FROM nextrun_open`:                                                  "nonsense",
			`SELECT ref FROM nextrun_open`:                                                                       "it must return outcome",
			`SELECT 'success' AS outcome FROM nextrun_open`:                                                      "it must return ref or jid",
			`DELETE FROM legacy WHERE jid IN (SELECT jid FROM nextrun_open) RETURNING jid, 'success' AS outcome`: "it writes",
		} {
			k.Outcome = statement
			q := f.queue(k)
			report := f.report(q)
			if len(report.Problems) > 0 || len(report.Warnings) != 1 ||
				!strings.HasPrefix(report.Warnings[0], "how its jobs end cannot be read: outcome: ") || !strings.Contains(report.Warnings[0], want) {
				t.Errorf("%s: %+v", statement, report)
			}
		}
		f.accept(f.queue(k), f.tasks(1)...)
	})
}
