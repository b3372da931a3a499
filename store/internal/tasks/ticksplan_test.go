package tasks

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/connect"
)

// The ticks of one task are found by their key, however many ticks others have.
func TestTicksOfATaskAreFoundByTheirKeyOnSQLite(t *testing.T) {
	t.Parallel()
	db, err := connect.Open(t.Context(), storetest.SQLiteURL(t), sqldb.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	var plans [][]string
	err = db.View(t.Context(), func(outer *sqldb.Tx) error {
		tx := taskTx{db.In(storetest.Explainer{DBTX: outer.DBTX(), Explain: "EXPLAIN QUERY PLAN ", Plans: &plans}, outer.Now())}
		_, err := tx.Ticks(t.Context(), periodic.TickFilter{TaskID: "report", Limit: 1})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) != 1 || !strings.Contains(strings.Join(plans[0], "\n"), "SEARCH k USING PRIMARY KEY (task_id=?") {
		t.Errorf("the plan is %q", plans)
	}
}
