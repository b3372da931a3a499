package connect

import (
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Migrator returns the migrations of a database.
func Migrator(db *sqldb.DB) *migrations.Migrator {
	return migrations.New(db.ForMigrations(), migrations.Dialect(db.SQL().System))
}
