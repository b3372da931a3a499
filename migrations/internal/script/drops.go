package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// drops are the statements that remove what a file has created, so that the file need not say it twice. What
// it has added to tables that it has not created is removed one by one, the rest with its table.
func drops(list []Object, dialect tables.Dialect) string {
	own := map[string]bool{}
	for _, o := range list {
		own[o.Table] = own[o.Table] || o.Kind == Table
	}
	var text strings.Builder
	for _, kind := range []string{View, Trigger, Index, Column, Table, Function} {
		for _, o := range slices.Backward(list) {
			if o.Kind != kind {
				continue
			}
			switch {
			case kind == Trigger && dialect == tables.Postgres:
				fmt.Fprintf(&text, "DROP TRIGGER IF EXISTS %s ON %s;\n", o.Name, o.Table)
			case kind == View || kind == Trigger || kind == Table || kind == Function || kind == Index && !own[o.Table]:
				fmt.Fprintf(&text, "DROP %s IF EXISTS %s;\n", strings.ToUpper(kind), o.Name)
			case kind == Column && !own[o.Table]:
				fmt.Fprintf(&text, "ALTER TABLE %s DROP COLUMN %s;\n", o.Table, o.Name)
			}
		}
	}
	return text.String()
}
