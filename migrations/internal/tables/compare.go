package tables

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mismatch is a table of a name that nextrun uses, which is something else.
type Mismatch struct {
	Table  string
	Column string // empty: the table as such
	Reason string
}

// Compare checks those tables in [All] that exist against the expected columns. adds names what
// nextrun adds beside them, which must not be there: tables ("periodic_tick") and columns ("job.due").
func Compare(ctx context.Context, q Querier, dialect Dialect, adds map[string]bool) (*Mismatch, error) {
	for _, table := range slices.Concat(slices.Sorted(maps.Keys(All)), slices.Sorted(maps.Keys(adds))) {
		if strings.Contains(table, ".") {
			continue
		}
		have, err := columns(ctx, q, dialect, table)
		if err != nil {
			return nil, err
		}
		if len(have) == 0 {
			continue
		}
		if found := mismatch(table, adds, have); found != nil {
			return found, nil
		}
	}
	return nil, nil
}

// mismatch is the first column of a table that does not fit, or nil.
func mismatch(table string, adds map[string]bool, have []actual) *Mismatch {
	if adds[table] {
		return &Mismatch{Table: table, Reason: "it exists already, but not by a migration of nextrun"}
	}
	byName, want := map[string]actual{}, All[table]
	for _, a := range have {
		if adds[table+"."+a.name] {
			return &Mismatch{table, a.name, "it exists already, and nextrun would add a column of that name"}
		}
		byName[a.name] = a
	}
	for _, w := range want {
		a, exists := byName[w.Name]
		switch {
		case w.optional && !exists:
		case !exists:
			return &Mismatch{table, w.Name, "it is missing"}
		case kindOf(a.declared) != w.kind:
			return &Mismatch{table, w.Name, fmt.Sprintf("its type is %s, expected %s", a.declared, w.kind)}
		}
	}
	return unknownOrNull(table, want, have)
}

// unknownOrNull refuses columns that nextrun does not know and an INSERT has to
// fill, and columns that may be NULL where nextrun, like Docspell, reads a value.
func unknownOrNull(table string, want []Column, have []actual) *Mismatch {
	for _, a := range have {
		i := slices.IndexFunc(want, func(w Column) bool { return w.Name == a.name })
		if i < 0 && a.notNull && !a.hasDefault {
			return &Mismatch{table, a.name, "nextrun does not know it, and it has neither a default nor may it be NULL"}
		}
	}
	for _, a := range have {
		i := slices.IndexFunc(want, func(w Column) bool { return w.Name == a.name })
		if i >= 0 && !a.notNull && !want[i].null {
			return &Mismatch{table, a.name, "it may be NULL, and one row in which it is would hold up the others; " +
				"make it NOT NULL (PostgreSQL: ALTER TABLE " + table + " ALTER COLUMN " + a.name + " SET NOT NULL)"}
		}
	}
	return nil
}
