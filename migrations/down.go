package migrations

import (
	"context"
	"fmt"
	"regexp"
)

// ownMark is how the marks of nextrun's schedulers end; those of a Docspell are names.
var ownMark = regexp.MustCompile(`@[0-9a-f]+\.[0-9]+$`)

// clearMarks removes the marks of nextrun's schedulers, such as of one that was killed, from a
// table that stays. A Docspell would wait for them for ever.
func (m *Migrator) clearMarks(ctx context.Context) error {
	version, err := m.ours(ctx)
	if err != nil || version == 0 {
		return err
	}
	if found, err := recorded(ctx, m.db); err != nil || !found["periodic_task"] {
		return err
	}
	rows, err := m.db.QueryContext(ctx, "SELECT DISTINCT worker FROM periodic_task WHERE worker IS NOT NULL")
	if err != nil {
		return fmt.Errorf("look for marks: %w", err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	var marks []string
	for rows.Next() {
		var mark string
		if err := rows.Scan(&mark); err != nil {
			return fmt.Errorf("look for marks: %w", err)
		}
		if ownMark.MatchString(mark) {
			marks = append(marks, mark)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("look for marks: %w", err)
	}
	for _, mark := range marks {
		if _, err := m.db.ExecContext(ctx, "UPDATE periodic_task SET worker = NULL, marked = NULL WHERE worker = $1", mark); err != nil {
			return fmt.Errorf("remove a mark: %w", err)
		}
	}
	return nil
}
