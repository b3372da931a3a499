package audit

import (
	"embed"

	"github.com/nextrun/nextrun/bench/internal/must"
)

//go:embed postgres.sql sqlite.sql
var tables embed.FS

// Tables are the statements for a database, postgres or sqlite, that make what is beside nextrun's tables.
func Tables(database string) string { return string(must.Get(tables.ReadFile(database + ".sql"))) }
