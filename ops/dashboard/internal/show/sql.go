package show

import (
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/periodic"
)

// setColumn is a column that users own, with its value as SQL writes it.
type setColumn struct{ title, name, value string }

// columnsOf are those of a task that are not as they are by default. Args are masked.
func columnsOf(t *periodic.Task, m Mask) (list []setColumn) {
	standard := periodic.NewTask(t.ID, t.Task, t.Timer)
	for _, c := range column.OfUsers(periodic.Columns()) {
		if v := c.Get(t); v != c.Get(&standard) {
			if v.Kind == column.JSON {
				v.Text = m.Args(v.Text)
			}
			list = append(list, setColumn{c.Name, c.InTable(), sqlText(v)})
		}
	}
	return list
}

func sqlText(v column.Value) string {
	switch v.Kind {
	case column.Text, column.JSON:
		return quote(v.Text)
	case column.Time:
		return quote(v.Time.Format("2006-01-02 15:04:05.000000"))
	}
	return v.String()
}

// Setting is a column of the row that is not as it is by default.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Settings are the columns as people read them.
func Settings(t *periodic.Task, m Mask) []Setting {
	var list []Setting
	for _, c := range columnsOf(t, m) {
		if c.name != "args" && c.name != "enabled" {
			list = append(list, Setting{c.title, strings.ReplaceAll(strings.Trim(c.value, "'"), "''", "'")})
		}
	}
	return list
}

// RowSQL is the statement that adds the row to another database.
func RowSQL(t *periodic.Task, m Mask) string {
	names, values := []string{"id", "task", "timer"}, []string{quote(t.ID), quote(t.Task), quote(t.Timer)}
	for _, c := range columnsOf(t, m) {
		names, values = append(names, c.name), append(values, c.value)
	}
	return fmt.Sprintf("INSERT INTO periodic_task (%s)\nVALUES (%s);", strings.Join(names, ", "), strings.Join(values, ", "))
}

// UpdateSQL is the statement that makes one row of another one with the same id.
func UpdateSQL(from, to *periodic.Task, m Mask) string {
	var sets []string
	for _, c := range column.OfUsers(periodic.Columns()) {
		if v := c.Get(to); v != c.Get(from) {
			if v.Kind == column.JSON {
				v.Text = m.Args(v.Text)
			}
			text := sqlText(v)
			if v.Null {
				text = "NULL"
			}
			sets = append(sets, c.InTable()+" = "+text)
		}
	}
	return "UPDATE periodic_task SET " + strings.Join(sets, ", ") + " WHERE id = " + quote(from.ID) + ";"
}

// quote is a text as SQL writes it, without what could deceive a reader.
func quote(text string) string {
	return "'" + strings.ReplaceAll(Printable(text), "'", "''") + "'"
}
