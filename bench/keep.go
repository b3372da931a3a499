package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// keep takes over the rows of an earlier report, of groups that still exist and are not measured again.
func (r *report) keep(path string, known, again []group) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var old report
	if err == nil {
		err = json.Unmarshal(text, &old)
	}
	if err != nil {
		return fmt.Errorf("read the earlier figures in %s: %w", path, err)
	}
	if old.CPUs != r.CPUs || old.Postgres != r.Postgres {
		return fmt.Errorf("%s is of another machine: %d cores, PostgreSQL %s", path, old.CPUs, old.Postgres)
	}
	for _, row := range old.Rows {
		if position(known, row.Group) >= 0 && position(again, row.Group) < 0 {
			r.Rows = append(r.Rows, row)
		}
	}
	return nil
}

// sort puts the rows in the order of the groups.
func (r *report) sort(known []group) {
	slices.SortStableFunc(r.Rows, func(a, b row) int { return position(known, a.Group) - position(known, b.Group) })
}

func position(list []group, name string) int {
	return slices.IndexFunc(list, func(g group) bool { return g.name == name })
}
