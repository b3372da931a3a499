package ui

import (
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/periodic"
)

// ColumnChanges writes the columns that change of a task, on one line.
func ColumnChanges(c periodic.TaskChange) string {
	var b strings.Builder
	for i, column := range c.Columns {
		separator := ", "
		if i == 0 {
			separator = "  "
		}
		fmt.Fprintf(&b, "%s%s: %q -> %q", separator, column.Column, Shorten(column.From), Shorten(column.To))
	}
	return b.String()
}
