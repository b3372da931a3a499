package migrations_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
)

// A login that may not read the version of the schema learns so, not that the schema is
// too old.
func TestVersionThatMayNotBeRead(t *testing.T) {
	both(t, func(db *database) {
		if db.Kind == storetest.SQLite { // which has no rights
			return
		}
		db.up()
		role := "nextrun_hidden_" + db.one("SELECT md5(current_database())")[:12]
		db.exec("CREATE ROLE " + role)
		db.Cleanup(func() { db.exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
		guest := migrations.New(db.as(role).SQL.DB, migrations.Postgres)
		db.exec("GRANT SELECT ON periodic_task TO " + role)
		for _, table := range []string{"nextrun_migration", "nextrun_found"} {
			err := guest.CheckVersion(t.Context())
			if !errors.Is(err, sqldb.ErrDenied) || errors.Is(err, migrations.ErrPending) || !strings.Contains(err.Error(), "dist/postgres/roles.sql") ||
				!strings.Contains(err.Error(), "permission denied for table "+table) {
				t.Errorf("%v; want the right that is missing, and the remedy", err)
			}
			db.exec("GRANT SELECT ON " + table + " TO " + role)
		}
		if err := guest.CheckVersion(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
