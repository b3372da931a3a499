package hostile_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// refusals are the CHECKs and triggers of the user's own that refuse a row. In the place of
// a value a cell may have one of them.
func (d database) refusals() []value {
	list := []value{{"a trigger refuses", "INSERT"}, {"a trigger refuses", "UPDATE"}, {"a trigger refuses", "DELETE"}}
	if !d.isSQLite() { // which adds no CHECK to a table
		list = append(list, value{"a CHECK refuses", "CHECK"})
	}
	return list
}

// allColumns stands in a cell for no column, but the whole row.
const allColumns = "*"

func (c *cell) refuses() bool { return c.name() == allColumns }

// forbid is the statement that has the user's database refuse the row.
func (d database) forbid(c *cell) string {
	name := strings.ReplaceAll(c.id, "-", "_")
	if d.isSQLite() {
		var whole []string
		of := "NEW"
		if c.sql == "DELETE" {
			of = "OLD"
		}
		for _, column := range d.columnsOf(c.table) {
			whole = append(whole, fmt.Sprintf("coalesce(%s.%s, '')", of, quoted(column)))
		}
		return fmt.Sprintf("CREATE TRIGGER %s BEFORE %s ON %s WHEN instr(%s, '%s') BEGIN SELECT RAISE(ABORT, 'the user does not want this row'); END;\n",
			name, c.sql, c.table, strings.Join(whole, "||' '||"), c.id)
	}
	if c.sql == "CHECK" {
		key := slices.Sorted(maps.Keys(c.where))[0]
		return fmt.Sprintf("SET LOCAL lock_timeout = '10s';\nALTER TABLE %s ADD CONSTRAINT %s CHECK (strpos(CAST(%s AS text), '%s') = 0) NOT VALID;\n", c.table, name, quoted(key), c.id)
	}
	row := "NEW"
	if c.sql == "DELETE" {
		row = "OLD"
	}
	return fmt.Sprintf(`SET LOCAL lock_timeout = '10s';
CREATE FUNCTION %[1]s() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF strpos(CAST(%[2]s AS text), '%[3]s') > 0 THEN RAISE 'the user does not want this row'; END IF; RETURN %[2]s; END $$;
CREATE TRIGGER %[1]s BEFORE %[4]s ON %[5]s FOR EACH ROW EXECUTE FUNCTION %[1]s();
`, name, row, c.id, c.sql, c.table)
}

// allow takes back what forbid did.
func (d database) allow(c *cell) string {
	name := strings.ReplaceAll(c.id, "-", "_")
	switch {
	case d.isSQLite():
		return "DROP TRIGGER " + name + ";\n"
	case c.sql == "CHECK":
		return fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s;\n", c.table, name)
	}
	return "DROP FUNCTION " + name + "() CASCADE;\n"
}

func (d database) columnsOf(table string) (names []string) {
	for _, c := range d.columns() {
		if c.table == table {
			names = append(names, c.name)
		}
	}
	return names
}
