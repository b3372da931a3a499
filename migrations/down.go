package migrations

import (
	"context"
	"errors"
	"fmt"
	"regexp"
)

// errHalfDown is returned by [Migrator.Check], [Migrator.CheckVersion] and [Migrator.Up]
// when a [Migrator.Down] was interrupted. It has taken back some migrations completely and
// the others not at all, but those that are taken back leave no older version that Up
// could go on from.
var errHalfDown = errors.New("nextrun migrate down was interrupted; finish it: nextrun migrate down --yes")

// goingDown is the row of nextrun_found from the beginning of a Down to its end.
const goingDown = "migrate down"

// descent is the record of a Down that has begun and not ended.
type descent struct{ m *Migrator }

// begin notes that Down has begun, and forgets versions that no file takes back any more.
func (d descent) begin(ctx context.Context) error {
	version, _, err := versions(ctx, d.m)
	if err != nil || version == 0 {
		return err
	}
	known, err := d.m.files.Known()
	if err != nil {
		return err
	}
	if _, err := d.m.db.ExecContext(ctx, "INSERT INTO nextrun_found (name) VALUES ('"+goingDown+"') ON CONFLICT DO NOTHING"); err != nil {
		return err
	}
	_, err = d.m.db.ExecContext(ctx, "DELETE FROM "+versionTable+" WHERE version_id > 0 AND version_id < $1", known[0].Version)
	return err
}

// underWay reports whether a Down has begun and not ended.
func (d descent) underWay(ctx context.Context, version int64) (down bool, err error) {
	if version == 0 {
		return false, nil
	}
	err = d.m.db.QueryRowContext(ctx, "SELECT count(*) > 0 FROM nextrun_found WHERE name = '"+goingDown+"'").Scan(&down)
	if err != nil {
		return false, fmt.Errorf("read nextrun_found: %w", err)
	}
	return down, nil
}

// check returns [errHalfDown] if an interrupted Down has left a version.
func (d descent) check(ctx context.Context, version int64) error {
	down, err := d.underWay(ctx, version)
	if err == nil && down {
		err = fmt.Errorf("%w (it has got to version %d)", errHalfDown, version)
	}
	return err
}

// forget forgets a Down that was interrupted before it had taken anything back. Of
// another one it returns [errHalfDown].
func (d descent) forget(ctx context.Context) error {
	version, latest, err := versions(ctx, d.m)
	if err != nil {
		return err
	}
	if version < latest {
		return d.check(ctx, version)
	}
	if down, err := d.underWay(ctx, version); err != nil || !down {
		return err
	}
	_, err = d.m.db.ExecContext(ctx, "DELETE FROM nextrun_found WHERE name = '"+goingDown+"'")
	return err
}

// ownMark is how the marks of nextrun's schedulers end; those of a Docspell are names.
var ownMark = regexp.MustCompile(`@[0-9a-f]+\.[0-9]+$`)

// clearMarks removes the marks of nextrun's schedulers, such as of one that was killed, from a
// table that stays. A Docspell would wait for them for ever.
func (m *Migrator) clearMarks(ctx context.Context) error {
	version, err := m.Version(ctx)
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
