package migrated

import (
	"testing"

	"github.com/nextrun/nextrun/ops/verify"
	"github.com/nextrun/nextrun/store"
)

// Verify marks a test as failed if `nextrun check --guarantees` would say of its database that a
// guarantee was not kept, or could not check one.
func Verify(t testing.TB, db *store.DB, o verify.Options) {
	t.Helper()
	report, err := verify.Run(t.Context(), db, o)
	if err != nil {
		t.Errorf("nextrun check --guarantees: %v", err)
		return
	}
	for _, undone := range report.Undone {
		t.Errorf("nextrun check --guarantees could not check %s", undone)
	}
	for _, f := range report.Findings {
		if f.Level != verify.Violation {
			continue
		}
		t.Errorf("nextrun check --guarantees: %s %s: %s", f.Guarantee, f.Check, f.Text)
		for _, row := range f.Rows {
			t.Logf("  %s: %s", row.About, row.Detail)
		}
	}
}

// Verify is [Verify] of the database.
func (d *Database) Verify() {
	d.Helper()
	Verify(d, d.Store, verify.Options{})
}
