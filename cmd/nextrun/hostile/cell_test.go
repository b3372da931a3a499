package hostile_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// cell is a column of a victim with the value that it gets.
type cell struct {
	column
	value
	victim

	id    string
	fresh bool   // the row is there with this value from the start; else it had worked before
	was   string // before, as SQL
	is    string // what tells the hostile value, as print does
}

func (c *cell) String() string { return fmt.Sprintf("%s.%s = %s", c.table, c.name(), c.value.name) }

func (c *cell) name() string { return c.column.name }

// cells are all cells of a database, in random order: one of each column, then a second one
// of each.
func (d database) cells(random *rand.Rand) []*cell {
	d.Helper()
	var list []*cell
	victims := d.victims()
	add := func(c column, values []value) {
		for _, v := range values {
			list = append(list, &cell{column: c, value: v, victim: victims[c.table][random.IntN(len(victims[c.table]))], fresh: random.IntN(2) == 0})
		}
	}
	for _, c := range d.columns() {
		if spared[c.table] != "" {
			continue
		}
		if len(victims[c.table]) == 0 {
			d.Fatalf("the table %s has no victims: add some to victims_test.go", c.table)
		}
		add(c, d.values(c))
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	seen := map[column]int{}
	turn := map[*cell]int{}
	for _, c := range list {
		turn[c] = seen[c.column]
		seen[c.column]++
	}
	slices.SortStableFunc(list, func(a, b *cell) int { return turn[a] - turn[b] })
	knownFirst(list)
	for i, c := range list {
		c.id = fmt.Sprintf("hostile-%04d", i)
	}
	return list
}

// locate is the condition that finds the row whatever the column holds.
func (c *cell) locate() string {
	for _, name := range slices.Sorted(maps.Keys(c.where)) {
		if name != c.name() {
			return c.where[name]
		}
	}
	return c.where[c.name()] // there is no other column to find it by
}

// byItself reports that only the column itself finds the row.
func (c *cell) byItself() bool { return len(c.where) == 1 && c.where[c.name()] != "" }

// makes are the statements that make the row.
func (d database) makes(c *cell) string {
	var b strings.Builder
	for _, statement := range c.make {
		b.WriteString(d.fill(statement, c.id) + ";\n")
	}
	return b.String()
}

// harm is the statement that makes the value hostile.
func (d database) harm(c *cell) string {
	return d.fill(fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s;\n", c.table, quoted(c.name()), c.sql, c.locate()), c.id)
}

// apply makes the value hostile, and remembers what was there. more runs before, in the
// same transaction. It returns an error if the database refuses the value.
func (d database) apply(c *cell, more string) error {
	d.Helper()
	was, is := "quote_nullable(CAST("+quoted(c.name())+" AS text))", d.print(c)
	if d.isSQLite() {
		was = "quote(" + quoted(c.name()) + ")"
	}
	from := " FROM " + c.table + " WHERE "
	before, after := d.fill(from+c.locate(), c.id), d.fill(from+c.locate(), c.id)
	if c.byItself() {
		after = from + quoted(c.name()) + " = " + c.sql
	}
	out, err := d.run("BEGIN;\n" + more + "SELECT " + was + before + ";\n" + d.harm(c) + "SELECT " + is + after + ";\nCOMMIT;\n")
	if err != nil {
		return err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 2 {
		return fmt.Errorf("%w: %d lines", errNoRow, len(lines))
	}
	if c.was == "" {
		c.was = lines[0]
	}
	c.is = lines[1]
	return nil
}

var errNoRow = errors.New("there is no such row, or not just one")

// print is an expression that tells the values of a column apart.
func (d database) print(c *cell) string {
	name := quoted(c.name())
	if d.isSQLite() {
		return "typeof(" + name + ")||length(CAST(" + name + " AS blob))||hex(substr(CAST(" + name + " AS blob), 1, 100))"
	}
	return "coalesce(md5(CAST(" + name + " AS text)), 'null')"
}

// cure puts the value right, unless somebody has changed it since.
func (d database) cure(c *cell) error {
	d.Helper()
	where := c.locate()
	if c.byItself() {
		where = "true"
	}
	hostile := d.fill(fmt.Sprintf("%s AND %s = '%s'", where, d.print(c), c.is), c.id)
	_, err := d.run(fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s;\n", c.table, quoted(c.name()), c.was, hostile))
	if err != nil && (strings.Contains(err.Error(), "UNIQUE") || strings.Contains(err.Error(), "duplicate key")) {
		// nextrun has made the row that was missing.
		_, err = d.run(fmt.Sprintf("DELETE FROM %s WHERE %s;\n", c.table, hostile))
	}
	return err
}

// quoted is the name of a column, which may be a word of SQL.
func quoted(name string) string { return `"` + name + `"` }
