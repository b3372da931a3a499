package hostile_test

import "strings"

// column is one of a table, as the catalog has it.
type column struct {
	table, name string
	kind        kind
	null        bool // it takes NULL
}

// kind is what a column is made for.
type kind string

const (
	text   kind = "text"
	number kind = "number"
	moment kind = "time"
	truth  kind = "truth"
	other  kind = "other" // JSON, arrays, bytes, enumerations
)

// columns reads all columns of all tables from the catalog, so that one that is added
// later is covered by itself.
func (d database) columns() []column {
	d.Helper()
	query := `SELECT CASE table_schema WHEN current_schema() THEN '' ELSE table_schema || '.' END || table_name, column_name, data_type, is_nullable
		FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
		WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema') AND is_generated = 'NEVER'
			AND identity_generation IS DISTINCT FROM 'ALWAYS'
		ORDER BY table_schema, table_name, ordinal_position`
	if d.isSQLite() {
		query = `SELECT m.name, c.name, c.type, CASE c."notnull" WHEN 0 THEN 'YES' ELSE 'NO' END FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid`
	}
	var list []column
	for _, row := range d.rows(query) {
		list = append(list, column{row[0], row[1], kindOf(row[2]), row[3] == "YES"})
	}
	return list
}

func kindOf(declared string) kind {
	declared = strings.ToLower(declared)
	for _, k := range []struct {
		part string
		kind kind
	}{
		{"bool", truth}, {"time", moment}, {"char", text}, {"text", text}, {"int", number}, {"numeric", number}, {"double", number},
	} {
		if strings.Contains(declared, k.part) {
			return k.kind
		}
	}
	return other
}
